/*
 * once.c: `grader run`: one case of one exercise, once, in a shape that the student may choose. For
 * each call it shows inputs, results, output and time, and says whether the results are right. The
 * inputs are the same every time, unless a seed is given. No verdict is stored.
 */
#include "grade.h"
#include "student/student.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEED          1
#define CALLS_SHOWN   8
#define NUMBERS_SHOWN 8
#define LARGE_ENOUGH  16 /* one size of a case that nobody has chosen */

static int calls; /* shown so far */

/* ---- one call -------------------------------------------------------------------------------- */

static void print_argument(const call_request *r, int i)
{
    const wire_argument *w = &r->arguments[i].wire;
    switch (w->kind) {
    case WIRE_BUFFER: printf("%s", w->name); break;
    case WIRE_I32: printf("%lld", (long long)w->value.i); break;
    case WIRE_U64: printf("%llu", (unsigned long long)w->value.u); break;
    case WIRE_F32:
    case WIRE_F64: printf("%g", w->value.f); break;
    case WIRE_DIM3:
        printf("dim3(%u, %u, %u)", w->value.dim[0], w->value.dim[1], w->value.dim[2]);
        break;
    case WIRE_STREAM: printf("stream"); break;
    case WIRE_NULL: printf("NULL"); break;
    case WIRE_ALIAS: printf("%s", r->arguments[w->value.i].wire.name); break;
    case WIRE_FUNCTION: printf("%s", w->name); break;
    case WIRE_FILE: printf("a file"); break;
    default: printf("handle %lld", (long long)w->value.i);
    }
}

static void print_call(const call_request *r)
{
    const char *comma = "";
    printf("\n  %s(", r->function);
    for (int i = 0; i < r->count; i++) {
        if (r->arguments[i].wire.beside) continue;
        printf("%s", comma);
        print_argument(r, i);
        comma = ", ";
    }
    printf(")\n");
}

static bool is_integer(element_type e)
{
    return e == ELEMENT_I8 || e == ELEMENT_I32 || e == ELEMENT_U64 || e == ELEMENT_BYTE;
}

static void print_number(element_type e, const void *array, size_t i)
{
    const unsigned poison = element_poison(e);
    const size_t bytes = element_bytes(e);
    const double value = element_value(e, array, i);
    const bool telling = bytes > 1; /* one byte may be any number */
    if (telling && memcmp((const char *)array + i * bytes, &poison, bytes < 4 ? bytes : 4) == 0)
        printf(" unwritten");
    else
        printf(is_integer(e) ? " %.0f" : " %.6g", value);
}

static void print_buffer(const argument *a)
{
    const size_t count = a->wire.bytes / element_bytes(a->element);
    const size_t shown = count < NUMBERS_SHOWN ? count : NUMBERS_SHOWN;
    printf("    %-3s %-12s", a->role == ROLE_IN ? "in" : "out", a->wire.name);
    for (size_t i = 0; i < shown; i++) print_number(a->element, a->data, i);
    printf("%s (%zu)\n", shown < count ? " ..." : "", count);
}

static void print_time(const call_request *r, const call_outcome *o)
{
    const device_counts *c = &o->counts;
    printf("    %.4g ms", 1e3 * o->seconds);
    if (r->place == ON_SOFTGPU)
        printf(" on softgpu, which is not the time of a GPU; kernel launches: %.0f, DRAM bytes: "
               "%.0f, bank conflicts: %.0f",
               kernel_launches(c), moved_bytes(c), bank_conflicts(c));
    printf("\n");
}

static void print_output(const char *text)
{
    if (*text) printf("    printed:\n%s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* Of a call that failed nothing has come back. */
static void show(const case_state *s, const call_request *r)
{
    const call_outcome *o = &s->last;
    if (++calls > CALLS_SHOWN) return;
    print_call(r);
    if (!o->failed) print_time(r, o);
    for (int i = 0; i < r->count; i++) {
        const argument *a = &r->arguments[i];
        if (a->wire.kind != WIRE_BUFFER || a->element == ELEMENT_ADDRESS) continue;
        if (a->role == ROLE_IN || !o->failed) print_buffer(a);
    }
    print_output(worker_output(s->worker)); /* of kernels, too */
}

/* ---- which case ------------------------------------------------------------------------------ */

static bool is_large_enough(const grading_case *c)
{
    for (int i = 0; i < SHAPE_MAX; i++) {
        if (c->shape[i] >= LARGE_ENOUGH) return true;
    }
    return false;
}

/* The first that is large enough; of small ones the largest. */
static const grading_case *find_case(const options *o, const exercise *e, place where)
{
    const grading_case *largest = e->cases;
    if (o->case_name || e->see) return case_like(e, o->case_name ? o->case_name : e->see);
    for (const grading_case *c = e->cases; c->name; c++) {
        if (c->where && !(c->where & where)) continue;
        if (is_large_enough(c)) return c;
        if (case_size(c) > case_size(largest)) largest = c;
    }
    return largest;
}

/* @return false after a message */
static bool choose_case(const options *o, const exercise *e, place where, grading_case *one)
{
    const grading_case *like = find_case(o, e, where);
    if (!like) return options_case_exists(o); /* it says which there are */
    *one = *like;
    const char *wrong = o->shape ? case_reshape(e, like, o->shape, one) : NULL;
    if (wrong) fprintf(stderr, "grader: SHAPE=%s: %s\n", o->shape, wrong);
    return !wrong;
}

static void print_head(const options *o, const exercise *e, place where, const grading_case *one)
{
    const char *places = where == ON_SOFTGPU ? "softgpu" : where == ON_GPU ? "the GPU" : "this CPU";
    char shape[24 * SHAPE_MAX] = "";
    for (int i = 0; i < case_dimensions(e, one); i++) {
        snprintf(shape + strlen(shape), 24, "%s%ld", i > 0 ? "x" : "", one->shape[i]);
    }
    printf("  %s %s on %s: CASE='%s' SHAPE=%s SEED=%llu\n", id_words(e->id), e->name, places,
           one->name, shape, o->seed_given ? o->seed : SEED);
}

/* ---- running it ------------------------------------------------------------------------------ */

static void print_verdict(case_state *s, const char *message)
{
    char *found = case_take_found(s);
    if (calls > CALLS_SHOWN) printf("\n  and %d more calls\n", calls - CALLS_SHOWN);
    printf("\n  %s%s\n", message ? "failed: " : "right", message ? message : "");
    if (*found) printf("  softgpu found: %s\n", found);
    free(found);
}

/* What a GPU or a core does for the first time takes longer: there the second time is shown. */
static void run_here(const options *o, const build *b, const grading_case *one)
{
    const unsigned long long seed = o->seed_given ? o->seed : SEED;
    case_state s = case_begin(o, b->exercise, b->place, b->library);
    s.trial = o->shape != NULL;
    s.request.counted = b->place == ON_SOFTGPU;
    if (b->place != ON_SOFTGPU) free(run_case_once(&s, one, seed));
    s.seen = show;
    char *message = run_case_once(&s, one, seed);
    print_verdict(&s, message);
    case_drop_worker(&s);
    free(message);
}

/* In a child, for a shape that a case cannot take may end it. */
static int run_in_child(const options *o, const build *b, const grading_case *one)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        run_here(o, b, one);
        fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    fprintf(stderr, "grader: the case %s cannot take this shape\n", one->name);
    return 2;
}

static int build_and_run(const options *o, const exercise *e, place where, const grading_case *one)
{
    build b = {.exercise = e, .root = o->submission, .file = e->file, .own = true, .place = where};
    build *its[] = {&b};
    library_set *set = library_set_create(o, NULL);
    library_set_needs(set, &b);
    library_set_build(set, its, 1);
    if (b.log && *b.log) printf("%s\n", b.log);
    const int gpu = b.ok ? gpu_take(o) : -1;
    const int status = b.ok ? run_in_child(o, &b, one) : 0;
    if (gpu >= 0) close(gpu);
    library_set_free(set);
    free(b.log);
    return status;
}

/* @return NULL, or why nothing can be run */
static const char *obstacle(const options *o, const exercise *e, place where)
{
    static char why[PREBUILT_WHY + 64];
    char uuid[64];
    if (!prebuilt_check(o, why)) return why;
    if (o->backend == BACKEND_CUDA && !gpu_find(o, uuid)) return "there is no CUDA device here";
    const char *needs = exercise_needs(o, e, where);
    if (needs) snprintf(why, sizeof why, "%s needs %s", id_words(e->id), needs);
    return needs ? why : NULL;
}

int run_once(const options *o)
{
    grading_case one;
    const exercise *e = the_exercise(o, "run");
    if (!e) return 2;
    const place where = exercise_place(e, o->backend);
    const char *why = obstacle(o, e, where);
    if (why) fprintf(stderr, "grader: %s\n", why);
    if (why || !sandbox_start(o) || !choose_case(o, e, where, &one)) return 2;
    print_head(o, e, where, &one);
    return build_and_run(o, e, where, &one);
}
