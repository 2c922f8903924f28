/* calls.c: the calls of a case: a case's arguments become a request, and the outcome is kept in the
 * case's state, or fails the case. */
#include "running.h"

#include "mistakes/mistakes.h"
#include "supervisor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_ROUNDS 3

static void need_worker(void)
{
    char why[512];
    case_state *s = running;
    if (s->worker) return;
    const exercise *e = s->exercise;
    device_process_have(e->more_devices > e->devices ? e->more_devices : e->devices);
    worker_calls_cublas(s->exercise->cublas);
    bool killed;
    s->worker = worker_start(s->options, s->place, s->library, &killed, why);
    if (s->worker) return;
    s->interrupted = s->interrupted || killed;
    s->dead = true; /* it would not load the next time either */
    fail_as(FAILURE_CALL, "the worker cannot load it: %s", why);
}

/* For those who look for a pattern: a factor that is one of the sizes. */
static void take_sizes(const argument *arguments, int count)
{
    running->size_count = 0;
    for (int i = 0; i < count && i < WIRE_ARGUMENTS; i++) {
        const wire_argument *w = &arguments[i].wire;
        if (w->kind != WIRE_I32 && w->kind != WIRE_U64) continue;
        running->sizes[running->size_count++] =
            w->kind == WIRE_I32 ? (long)w->value.i : (long)w->value.u;
    }
}

/* ---- findings -------------------------------------------------------------------------------- */

static void keep_finding(case_finding one)
{
    case_state *s = running;
    s->found = realloc(s->found, (size_t)(s->found_count + 1) * sizeof *s->found);
    if (!s->found) abort();
    s->found[s->found_count++] = one;
}

/* A kernel of an exercise that this one calls: the mistake is in the call, as a rule. */
static const char *whose(const device_finding *f, char text[80])
{
    const char *file = base_name(f->file), *own = id_words(running->exercise->id);
    const size_t digits = strcspn(file, "_");
    text[0] = '\0';
    if (digits > 3 || digits == strlen(file) || id_parse(file, NULL) <= 0) return text;
    if (digits == strlen(own) && !strncmp(file, own, digits)) return text;
    snprintf(text, 80, "; your function calls %.*s: check its arguments", (int)digits, file);
    return text;
}

/* Where cuBLAS itself steps over an end, its arguments are wrong: there is no guard to be fixed.
 */
static const char *mistake_behind(const device_finding *f)
{
    if (!strncmp(f->kernel, "cublas_", 7) && f->kind == FINDING_OUT_OF_BOUNDS)
        return "; cuBLAS was given a wrong size, leading dimension or operand: the leading "
               "dimension is the number of elements from one column of cuBLAS to the next";
    return symptom_name(f->cause);
}

/* What cuBLAS refused, which it said while the call ran, and what it is given where rows lie one
 * behind the other. */
static const char *refused_by_cublas(void)
{
    static char text[320];
    if (!running->exercise->cublas || !running->worker) return "";
    const char *said = strstr(worker_output(running->worker), "cublas refuses ");
    if (!said) return "";
    snprintf(
        text, sizeof text,
        "; %.*s; to cuBLAS a row-major array is column-major, and its leading dimension is the "
        "length of a row: k for a[m x k], n for b[k x n] and c[m x n]",
        (int)strcspn(said, "\n"), said);
    return text;
}

static case_finding finding_of(const char *function, const device_finding *what, const char *more,
                               const char *mistake)
{
    char line[2000], other[80];
    case_finding one = {.what = *what};
    snprintf(one.function, sizeof one.function, "%s", function);
    finding_line(what, line, sizeof line);
    if (asprintf(&one.text, "%s: %s%s%s%s", function, line, more, mistake, whose(what, other)) < 0)
        abort();
    for (char *c = one.text; (c = strchr(c, '\n'));) *c = ' '; /* several are lines of one text */
    return one;
}

static bool is_known(const case_finding *one)
{
    int i = 0;
    while (i < running->found_count && strcmp(running->found[i].text, one->text) != 0) i++;
    return i < running->found_count;
}

/* Under a checker all findings of a case are kept, each once. What fails it is kept as that. */
static void keep_all(const char *function, const call_outcome *o)
{
    for (uint32_t i = 0; i < o->finding_count && i < WIRE_FINDINGS; i++) {
        if (i + 1 == o->culprit) continue;
        case_finding one = finding_of(function, &o->findings[i], "", "");
        if (is_known(&one))
            free(one.text);
        else
            keep_finding(one);
    }
}

/* The outputs are judged all the same, and the first finding of the case is kept for its checks. */
static void take_findings(const char *function, const call_outcome *o)
{
    const device_finding *first = &o->findings[0];
    if (running->options->slow > 0)
        keep_all(function, o);
    else if (o->finding_count > 0 && running->found_count == 0 && o->culprit == 0)
        keep_finding(finding_of(function, first, o->finding_count > 1 ? " (and more)" : "",
                                mistake_behind(first)));
}

static void fail_of_call(const char *function, const call_outcome *o)
{
    case_finding *culprit = &running->culprit;
    if (o->culprit > 0) {
        culprit->what = o->findings[o->culprit - 1];
        snprintf(culprit->function, sizeof culprit->function, "%s", function);
    }
    char other[80] = "";
    if (o->culprit > 0) whose(&culprit->what, other);
    const char *mistake = o->culprit > 0 ? mistake_behind(&culprit->what) : symptom_name(o->cause);
    fail_as(o->failure, "%s%s%s%s", o->message, mistake, other, refused_by_cublas());
}

/* What one call of a case keeps, another may free. */
static void take_kept(const char *function, const call_outcome *o)
{
    running->kept += o->kept;
    running->left += o->calls.left;
    if (o->calls.left > 0) running->leaver = function;
    if (o->kept <= 0) return;
    running->keepers++;
    running->keeper = function;
}

/* Results come first: what is broken fails the case when they are right. */
static void take_promise(const call_request *r, const call_outcome *o)
{
    const int number = function_number(running->exercise, r->function);
    if (number < 0) return;
    if (!(running->called & 1u << number))
        running->calls[number] = (uint8_t)(o->calls.count < UINT8_MAX ? o->calls.count : UINT8_MAX);
    running->called |= 1u << number;
    const promise p = promise_of(running->exercise, r);
    if (!running->broken && !r->wanted) running->broken = promise_broken(&p, &o->calls);
}

/* ---- one call -------------------------------------------------------------------------------- */

static const call_outcome *perform(call_request request)
{
    case_state *s = running;
    take_sizes(request.arguments, request.count);
    need_worker();
    if (s->alone_noted) alone_note(&request, (int)(s->grading_case - s->exercise->cases));
    const call_outcome *o = &s->last;
    failure_first(s, &request);
    do {
        call_perform(s->worker, &request, &s->last);
    } while (failure_next(s, &request, o));
    if (request.shuffle) s->request.shuffle += 2; /* the next call in yet another order */
    if (s->seen) s->seen(s, &request);
    if (o->worker_is_spent) case_drop_worker(s);
    s->dead = s->dead || o->is_hopeless;
    s->interrupted = s->interrupted || o->interrupted;
    take_findings(request.function, o);
    if (o->failed) fail_of_call(request.function, o);
    take_kept(request.function, o);
    take_promise(&request, o);
    if (request.is_baseline) leave_case();
    return o;
}

/* As the run is: the arguments of one call are all that the case adds. */
static call_request request_of(const char *function, wire_return returns, const argument *arguments,
                               int count)
{
    call_request r = running->request;
    r.function = function;
    r.returns = returns;
    r.arguments = arguments;
    r.count = count;
    return r;
}

static const call_outcome *call(const char *function, wire_return returns,
                                const argument *arguments, int count)
{
    return perform(request_of(function, returns, arguments, count));
}

void call_cuda(const char *function, argument *arguments, int count)
{
    call(function, WIRE_RETURN_CUDA, arguments, count);
}

void call_void(const char *function, argument *arguments, int count)
{
    call(function, WIRE_RETURN_VOID, arguments, count);
}

int call_returning_i32(const char *function, argument *arguments, int count)
{
    return (int)call(function, WIRE_RETURN_I32, arguments, count)->returned.i;
}

float call_returning_f32(const char *function, argument *arguments, int count)
{
    return (float)call(function, WIRE_RETURN_F32, arguments, count)->returned.f;
}

double call_returning_f64(const char *function, argument *arguments, int count)
{
    return call(function, WIRE_RETURN_F64, arguments, count)->returned.f;
}

static int64_t call_returning_pointer(const char *function, int number, const argument *arguments,
                                      int count)
{
    call_request r = request_of(function, WIRE_RETURN_HANDLE, arguments, count);
    r.handle = number;
    return perform(r)->returned.i;
}

/* A pointer is as wide, and comes back in the same register. */
unsigned long long call_returning_u64(const char *function, argument *arguments, int count)
{
    const int unused = WIRE_HANDLES - 1;
    return (unsigned long long)call_returning_pointer(function, unused, arguments, count);
}

void call_returning_handle(int number, const char *function, argument *arguments, int count)
{
    expect(call_returning_pointer(function, number, arguments, count) != 0, "%s returned NULL",
           function);
}

void call_counted(const char *function, argument *arguments, int count)
{
    const bool python = is_python(running->exercise->file);
    const wire_return returns = python ? WIRE_RETURN_VOID : WIRE_RETURN_CUDA;
    call_request r = request_of(function, returns, arguments, count);
    r.counted = true;
    perform(r);
}

void expect_operations(const char *function, double flop)
{
    const device_counts *c = call_counts();
    if (!c) return;
    expect(operations(c) >= 0.5 * flop,
           "%s: kernels made %.0f floating-point operations, but its task has %.0f: the work "
           "belongs on the device",
           function, operations(c), flop);
}

void call_refused(int error, const char *function, argument *arguments, int count)
{
    call_request r = request_of(function, WIRE_RETURN_CUDA, arguments, count);
    r.wanted = error;
    perform(r);
}

/* What is known of the call that is timed or counted stays as it is. */
void call_aside(const char *function, argument *arguments, int count)
{
    const call_outcome known = running->last;
    call_request r = request_of(function, WIRE_RETURN_CUDA, arguments, count);
    r.timed = r.counted = r.is_baseline = false;
    perform(r);
    running->last = known;
}

/* ---- the last one ---------------------------------------------------------------------------- */

place case_place(void)
{
    return running->place;
}

bool call_is_timed(void)
{
    return running->request.timed;
}

const char *call_output(void)
{
    return running->last.output ? running->last.output : "";
}

double held_bytes(void)
{
    need_worker();
    device_process *d = worker_device(running->worker);
    return (double)worker_bytes(running->worker) + (d ? (double)device_process_bytes(d) : 0.0);
}

double kept_by(void (*use)(const void *), const void *context, long warm, long times, double most)
{
    double least = INFINITY;
    for (long i = 0; i < warm; i++) use(context);
    for (int round = 0; round < KEPT_ROUNDS && least > most; round++) {
        const double before = held_bytes();
        for (long i = 0; i < times; i++) use(context);
        least = fmin(least, (held_bytes() - before) / (double)times);
    }
    return least;
}

const device_counts *call_counts(void)
{
    return worker_device(running->worker) ? &running->last.counts : NULL;
}

double call_seconds(void)
{
    return running->last.seconds;
}

double call_wall_seconds(void)
{
    return running->last.wall;
}

wire_copies call_copies(void)
{
    return running->last.copies;
}
