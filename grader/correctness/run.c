/*
 * run.c: the cases of one exercise, as a Check suite that runs in this process (CK_NOFORK): the
 * student's code is in the worker, and the worker has its own deadlines. A failed expectation
 * leaves the case through Check; the record of verdicts is ours.
 */
#include <check.h>
#undef fail /* Check's old name for ck_abort; ours is in case.h */

#include "running.h"

#include "timer.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DEADLINE 10.0  /* seconds for one call */
#define CASES_BUDGET     600.0 /* seconds for all cases of an exercise: after it no case begins */
#define SOFTGPU_SLOWNESS 3.0   /* an emulated call may take this much longer */

case_state *running;
static case_result *current_results;

const char *status_name(status s)
{
    static const char *const names[] = {"passed",  "failed",  "build_failed", "not_started",
                                        "skipped", "not_run", "too_noisy"};
    return names[s];
}

/* It says nothing, and the machine chose it. */
static void drop_signs_of_nan(char *text)
{
    for (char *at; (at = strstr(text, "-nan"));) memmove(at, at + 1, strlen(at));
}

static void __attribute__((noreturn)) end_as(failure failure, const char *format, va_list arguments)
{
    free(running->message);
    running->failure = failure;
    if (vasprintf(&running->message, format, arguments) < 0)
        running->message = strdup("out of memory");
    drop_signs_of_nan(running->message);
    ck_abort_msg("%s", running->message);
    abort(); /* not reached: ck_abort_msg does not return */
}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end_as(FAILURE_RESULT, format, arguments);
}

void fail_as(failure failure, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end_as(failure, format, arguments);
}

/* Nothing that follows is of interest. A case of its own would have no verdict; see run_guarded. */
void leave_case(void)
{
    ck_abort_msg("left");
    abort(); /* not reached */
}

void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    free(running->note);
    if (vasprintf(&running->note, format, arguments) < 0) running->note = NULL;
    va_end(arguments);
}

case_state case_begin(const options *o, const exercise *e, place p, const char *library)
{
    return (case_state){
        .options = o,
        .exercise = e,
        .place = p,
        .library = library,
        .folder = o->submission,
        .request = {.place = p, .host_copies = e->host_copies, .deadline = DEFAULT_DEADLINE}};
}

void case_enter(case_state *s)
{
    running = s;
}

void case_drop_worker(case_state *s)
{
    worker_stop(s->worker);
    s->worker = NULL;
    s->last.output = NULL;
}

unsigned long long secret_seed(const case_state *s, const char *what)
{
    static random_state seeds;
    static bool seeded;
    unsigned long long given;
    if (s->options->seed_given) return s->options->seed;
    if (hidden_seed(s->exercise, what, &given)) return given;
    if (!seeded) {
        unsigned long long secret = 0;
        FILE *source = fopen("/dev/urandom", "rb");
        if (!source || fread(&secret, sizeof secret, 1, source) != 1) secret = (uintptr_t)&source;
        if (source) fclose(source);
        seeds = random_seed(secret);
        seeded = true;
    }
    return random_u64(&seeds) >> 16; /* short enough to type */
}

/* Its runs may keep what they like, but not beyond their end. */
static void expect_nothing_kept(void)
{
    if (running->kept <= 0 && running->left <= 0) return;
    running->round = 0; /* it is a matter of all of them */
    if (running->kept <= 0)
        fail_as(FAILURE_CALL,
                "%s leaks: a stream, event, graph or pinned array that it has created is not freed",
                running->leaver);
    fail_as(FAILURE_CALL, "%s leaks: %lld %s of device memory, from %d call%s, are not freed",
            running->keeper, running->kept, running->place == ON_GPU ? "allocations" : "bytes",
            running->keepers, running->keepers == 1 ? "" : "s");
}

static void expect_promises_kept(void)
{
    if (!running->broken) return;
    running->round = 0; /* the same */
    fail_as(FAILURE_CALL, "%s", running->broken);
}

/* Some sizes of a case may be the seed's: nobody can be right for the sizes of its table alone. */
static void draw_shape(const grading_case *c, unsigned long long seed, long shape[SHAPE_MAX])
{
    random_state sizes = random_seed(~seed);
    memcpy(shape, c->shape, sizeof c->shape);
    for (int i = 0; i < SHAPE_MAX; i++) {
        if (c->most[i] == 0) continue;
        shape[i] += (long)random_below(&sizes, (uint64_t)(c->most[i] - shape[i] + 1));
    }
}

/* A failure of drawn sizes says which. */
static void name_shape(const grading_case *c, case_result *r)
{
    char text[24 * SHAPE_MAX] = "", *message = NULL;
    long shape[SHAPE_MAX];
    draw_shape(c, r->seed, shape);
    for (int i = 0; i < SHAPE_MAX; i++) {
        if (c->most[i] == 0) continue;
        snprintf(text + strlen(text), 24, "%s%ld", *text ? "x" : "", shape[i]);
    }
    if (!*text || asprintf(&message, "%s: %s", text, r->message) < 0) return;
    free(r->message);
    r->message = message;
}

/* One run is enough where the table says so, and before a count that alone is of interest. */
static bool runs_once(const grading_case *c)
{
    return c->once || (running->options->case_start && running->options->metric_start);
}

/* The same numbers again, from the same table: not what is the seed's or an instructor's. */
static bool may_run_again(const grading_case *c)
{
    bool drawn = false;
    for (int i = 0; i < SHAPE_MAX; i++) drawn = drawn || c->most[i] != 0;
    return !runs_once(c) && !c->line && !drawn && !getenv("SOFTGPU_PROFILE");
}

/* Another seed at the same addresses, then the first seed at others: a cache by address or by
 * content answers one of them wrongly. The others are aligned to a float and to nothing more, as
 * the contracts allow. There blocks and warps begin in another order in every call, and
 * asynchronous copies move their bytes at once. */
static void run_trials(const grading_case *c, unsigned long long seed)
{
    const int trials = runs_once(c) ? 1 : 3;
    running->kept = running->keepers = running->left = 0;
    running->called = 0;
    memset(running->calls, 0, sizeof running->calls);
    free(running->broken);
    running->broken = NULL;
    long shape[SHAPE_MAX];
    draw_shape(c, seed, shape);
    for (int trial = 0; trial < trials; trial++) {
        running->random = random_seed(trial == 1 ? seed + 1 : seed);
        running->round = trial;
        running->request.relocate = trial == 2;
        running->request.misaligned = trial == 2 && !getenv("SOFTGPU_PROFILE"); /* of usual costs */
        running->request.against_guard = trial != 2;
        running->alone_noted = trial == 0 && may_run_again(c);
        running->request.shuffle = trial == 2 ? seed | 1 : 0;
        c->run(shape);
        running->alone_noted = false;
        inputs_free();
    }
    expect_nothing_kept();
    expect_promises_kept();
}

/* A call that waits for a processor does not hang: its deadline grows with the exercises that run at
 * a time, or with the load per processor. */
double times_as_long(const options *o)
{
    double in_line = 0.0; /* of the last minute */
    if (o->slow > 0) return o->slow;
    getloadavg(&in_line, 1);
    return fmax(fmax(o->jobs, 1.0), in_line / (double)sysconf(_SC_NPROCESSORS_ONLN));
}

static void begin_case(const grading_case *c)
{
    double *deadline = &running->request.deadline;
    running->grading_case = c;
    *deadline = c->seconds > 0 ? c->seconds : DEFAULT_DEADLINE;
    if (running->place == ON_SOFTGPU && c->seconds <= 0) *deadline *= SOFTGPU_SLOWNESS;
    *deadline *= times_as_long(running->options);
}

START_TEST(one_case)
{
    const grading_case *c = &running->exercise->cases[_i];
    case_result *result = &current_results[_i];
    begin_case(c);
    result->seed = secret_seed(running, c->name);
    run_trials(c, result->seed);
    result->status = PASSED;
}
END_TEST

static bool wanted(const grading_case *c)
{
    const char *only = running->options->case_name, *start = running->options->case_start;
    if ((only || start) && failures_wanted(running->options)) return true; /* they come first */
    if (start && strncmp(start, c->name, strlen(start)) != 0) return false;
    return !only || strcmp(only, c->name) == 0;
}

static bool runs_here(const grading_case *c)
{
    return c->where == 0 || (c->where & running->place);
}

static void run_under_check(int index)
{
    Suite *suite = suite_create(running->exercise->name);
    TCase *tcase = tcase_create(running->exercise->cases[index].name);
    tcase_add_loop_test(tcase, one_case, index, index + 1);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    inputs_free();
}

/* @return the text, which is the caller's from now on */
static char *take(char **text, const char *otherwise)
{
    char *taken = *text ? *text : strdup(otherwise);
    *text = NULL;
    return taken;
}

/* Of a call that fails after others that did not: which it is. */
static char *with_round(char *message)
{
    static const char *const rounds[] = {
        "",
        "; the first call was right; this is the second, with the same sizes and different numbers",
        "; the calls before it were right: this one has its buffers at other addresses",
    };
    char *both = NULL;
    const bool shuffled = running->round == 2 && running->place == ON_SOFTGPU;
    if (asprintf(&both, "%s%s%s", message, rounds[running->round],
                 shuffled ? ", its warps begin in a different order, and asynchronous copies "
                            "arrive at once"
                          : "") < 0)
        abort();
    free(message);
    return both;
}

/* @return NULL, or why no more cases are run */
static const char *why_not(double end, const case_result *before)
{
    if (running->dead) return "not run after an earlier deadline";
    if (running->options->until_failed && before &&
        (before->status == FAILED || before->status == NOT_RUN || *before->finding))
        return "not run after an earlier failure";
    return seconds_now() > end ? "not run: the cases before it took too long together" : NULL;
}

char *case_take_found(case_state *s)
{
    char *all = strdup("");
    for (int i = 0; i < s->found_count; i++) {
        char *before = all;
        if (asprintf(&all, "%s%s%s", before, i > 0 ? "\n" : "", s->found[i].text) < 0) abort();
        free(before);
        free(s->found[i].text);
    }
    free(s->found);
    s->found = NULL;
    s->found_count = 0;
    return all;
}

/* All that was found goes to the result; first what the case failed of. */
static void take_findings(case_state *s, case_result *result)
{
    const int failed = result->status == FAILED && s->culprit.what.count > 0;
    result->found_count = s->found_count + failed;
    if (result->found_count > 0) {
        result->found = calloc((size_t)result->found_count, sizeof *result->found);
        if (!result->found) abort();
    }
    for (int i = 0; i < s->found_count; i++) {
        result->found[i + failed] = s->found[i];
        result->found[i + failed].text = strdup(s->found[i].text);
    }
    if (failed) {
        result->found[0] = s->culprit;
        result->found[0].text = strdup(result->message);
    }
    result->finding = case_take_found(s);
}

static void conclude(case_result *result, char *message)
{
    result->message = message;
    if (result->status == FAILED)
        result->failure = running->failure ? running->failure : FAILURE_CALL;
    result->mistake = take(&running->mistake, "");
    take_findings(running, result);
}

case_result case_of_call(case_state *s, const char *name, const char *part, char *message)
{
    case_result result = {.name = name,
                          .part = part,
                          .status = message ? FAILED : PASSED,
                          .seed_withheld = true,
                          .seconds = NAN};
    case_enter(s);
    conclude(&result, message ? message : strdup(""));
    return result;
}

void case_forget_found(case_result *r)
{
    for (int i = 0; i < r->found_count; i++) free(r->found[i].text);
    free(r->found);
    r->found = NULL;
    r->found_count = 0;
}

void case_result_free(case_result *r)
{
    case_forget_found(r);
    free(r->message);
    free(r->mistake);
    free(r->finding);
}

static void run_case(int index, double end)
{
    const grading_case *c = &running->exercise->cases[index];
    case_result *result = &current_results[index];
    const char *why = why_not(end, index > 0 ? result - 1 : NULL);
    *result = (case_result){
        .name = c->name, .part = part_of_case(running->exercise, index), .status = FAILED};
    if (!runs_here(c) || !wanted(c) || why) {
        const bool late = why && runs_here(c);
        result->finding = strdup("");
        result->status = late ? NOT_RUN : SKIPPED;
        result->message = strdup(late ? why : "");
        return;
    }
    if (c->line)
        case_drop_worker(running); /* what a worker has seen of it, no public case may tell */
    report_progress("%s %s: %s", id_words(running->exercise->id), running->exercise->name, c->name);
    const double began = seconds_now();
    running->round = 0;
    running->culprit.what.count = 0;
    running->failure = FAILURE_NONE;
    run_under_check(index);
    result->seconds = seconds_now() - began;
    memcpy(result->calls, running->calls, sizeof result->calls);
    if (result->status == PASSED)
        conclude(result, take(&running->note, ""));
    else
        conclude(result, with_round(take(&running->message, "the case ended without a verdict")));
    /* What a failed call has left behind, handles say, is no matter of the cases that follow. */
    if (c->line || (result->status == FAILED && result->failure != FAILURE_RESULT))
        case_drop_worker(running);
    hidden_hide(running->options, c, result);
    if (result->status == FAILED && !result->seed_withheld) name_shape(c, result);
}

void run_cases(case_state *s, case_result results[])
{
    case_enter(s);
    const double end = seconds_now() + CASES_BUDGET * times_as_long(running->options);
    current_results = results;
    alone_forget();
    int count = 0;
    for (; running->exercise->cases[count].name; count++) run_case(count, end);
    alone_run(results, count);
}

bool part_is_right(const case_result results[], int count, const char *part)
{
    int passed = 0;
    for (int i = 0; i < count; i++) {
        if (part && results[i].part && strcmp(part, results[i].part) != 0) continue;
        if (results[i].status == FAILED || results[i].status == NOT_RUN) return false;
        passed += results[i].status == PASSED;
    }
    return passed > 0;
}

/* ---- anything else that may fail an expectation ---------------------------------------------- */

static void (*guarded)(const char *, const long *);
static const char *guarded_function;
static const long *guarded_shape;

START_TEST(one_guarded)
{
    guarded(guarded_function, guarded_shape);
}
END_TEST

char *run_guarded(case_state *s, void (*run)(const char *, const long *), const char *function,
                  const long *shape)
{
    case_enter(s);
    guarded = run;
    guarded_function = function;
    guarded_shape = shape;
    running->culprit.what.count = 0;
    free(running->message);
    running->message = NULL;
    Suite *suite = suite_create(running->exercise->name);
    TCase *tcase = tcase_create("guarded");
    tcase_add_test(tcase, one_guarded);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    inputs_free();
    char *message = running->message;
    running->message = NULL;
    return message;
}

static void run_row(const char *unused, const long *shape)
{
    (void)unused;
    running->grading_case->run(shape);
}

char *run_case_once(case_state *s, const grading_case *c, unsigned long long seed)
{
    long shape[SHAPE_MAX];
    case_enter(s);
    begin_case(c);
    draw_shape(c, seed, shape);
    s->random = random_seed(seed);
    return run_guarded(s, run_row, NULL, shape);
}

char *run_in(case_state *s, worker **where, const char *library,
             void (*run)(const char *, const long *), const char *function, const long *shape)
{
    worker *own = s->worker;
    const char *own_library = s->library;
    s->worker = *where;
    s->library = library;
    char *message = run_guarded(s, run, function, shape);
    worker *after = s->worker; /* it may have been started, or lost */
    s->library = own_library;
    s->worker = own;
    *where = after; /* last, for it may be s->worker itself */
    return message;
}
