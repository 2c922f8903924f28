/*
 * failures.c: when a call of the runtime fails. In each call of a function that returns an error,
 * the worker refuses the first of the library's calls of the runtime, then the second, and so on;
 * each time the function must return an error and keep nothing, and the call after them all must be
 * right, which its case judges. If half a step has changed a network, no later call is judged. On
 * the CPU the threads are refused, and a function that returns nothing must be right without them.
 */
#include "running.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CALLS      128  /* of the runtime in one call; the others do not fail */
#define MOST_OF_NETWORK 400  /* ... without kernels, which take the time */
#define ENOUGH          24   /* calls of the runtime in a call to see how it fails */
#define LONGEST         1.0  /* seconds of a case that is run again, */
#define LONGEST_ONCE    30.0 /* ... where nothing is computed again and again, */
#define BUSY            60.0 /* ... if no other is quicker, as on a busy machine */

/* ---- in a call ------------------------------------------------------------------------------- */

/* After it there is nothing that could be called again. */
static bool is_an_end(const char *function)
{
    static const char *const ends[] = {"_free", "_destroy", "_close", "_release"};
    const size_t length = strlen(function);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i]);
        if (length > n && strcmp(function + length - n, ends[i]) == 0) return true;
    }
    return false;
}

static bool has_networks(const case_state *s)
{
    return id_phase(s->exercise->id) > 4;
}

/* Half of what it does stays in the network: room for a batch, a step of some of the parameters. */
static bool changes_network(const case_state *s, const call_request *r)
{
    int i = 0;
    while (i < r->count && r->arguments[i].wire.kind != WIRE_POINTER) i++;
    return has_networks(s) && i < r->count;
}

static bool is_of_interest(const case_state *s, const call_request *r)
{
    const bool speaks = r->returns == WIRE_RETURN_CUDA && !r->wanted && !(r->place & ON_CPU);
    if (promise_of(s->exercise, r).what & MAY_FAIL_ANYHOW || is_an_end(r->function)) return false;
    return speaks || (r->returns == WIRE_RETURN_VOID && r->place == ON_HOST && !has_networks(s));
}

void failure_first(case_state *s, call_request *r)
{
    const int number = function_number(s->exercise, r->function);
    if (!s->refuse_at || number < 0 || s->refused & 1u << number || !is_of_interest(s, r)) return;
    s->refused |= 1u << number;
    r->refuse_at = s->refuse_at;
    r->without_kernels =
        changes_network(s, r) || promise_of(s->exercise, r).what & ENDS_WITH_ERRORS;
}

static const char *nth(uint32_t n, char text[16])
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    const uint32_t last = n % 100 / 10 == 1 || n % 10 > 3 ? 0 : n % 10;
    snprintf(text, 16, "%u%s", n, endings[last]);
    return text;
}

static void __attribute__((noreturn, format(printf, 3, 4)))
fails(const call_request *r, const call_outcome *o, const char *format, ...)
{
    char why[2400], number[16];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    running->refuse_at = 0; /* this is the whole message */
    if (o->worker_is_spent) case_drop_worker(running);
    fail_as(o->failure ? o->failure : FAILURE_CALL, "%s: its %s call, %s, returned %s, and %s",
            r->function, nth(r->refuse_at, number), o->calls.refused, o->calls.refusal, why);
}

/* What fails for want of memory has to say so. It has to give back what it has, as does what cannot
 * launch. Else the device is in trouble, and so is the program. */
static void judge(const call_request *r, const call_outcome *o)
{
    const bool of_memory = strcmp(o->calls.refusal, "cudaErrorMemoryAllocation") == 0;
    const bool goes_on = of_memory || strstr(o->calls.refused, "Launch") != NULL;
    const bool keeps =
        promise_of(running->exercise, r).what & MAY_KEEP || r->without_kernels || !goes_on;
    if (o->failed) fails(r, o, "then %s", o->message);
    if (o->returned.i == 0 && strcmp(o->calls.refusal, "cudaErrorNotSupported") != 0)
        fails(r, o, "the function returned cudaSuccess");
    if (o->calls.moved && promise_of(running->exercise, r).what & KEEPS_DEVICE)
        fails(r, o, "the current device has changed");
    if (o->returned.i == 1 && of_memory)
        fails(r, o, "the function returned cudaErrorInvalidValue, as if its arguments were wrong");
    if (o->kept > 0 && !keeps) fails(r, o, "device memory that it had allocated is not freed");
    if (o->calls.left > 0 && !keeps)
        fails(r, o, "a stream, event, graph or pinned array that it had created is not freed");
}

/* Where nothing after it is judged, there is no need for what kernels compute. */
bool failure_next(case_state *s, call_request *r, const call_outcome *o)
{
    const uint32_t most = r->without_kernels ? MOST_OF_NETWORK : MOST_CALLS;
    const bool refused = *o->calls.refused;
    if (r->refuse_at == 0) return false;
    if (r->refuse_at == 1 && o->calls.count == 0) /* the next call of the function may have some */
        s->refused &= ~(1u << function_number(s->exercise, r->function));
    const bool again = refused && r->returns == WIRE_RETURN_CUDA && !o->did_without;
    s->refused_last = refused && !again;
    if (o->did_without) s->refuse_at = r->refuse_at;
    if (again) judge(r, o);
    if (r->without_kernels && (!again || r->refuse_at == most)) {
        case_drop_worker(s);
        leave_case();
    }
    if (again) r->refuse_at = r->refuse_at < most ? r->refuse_at + 1 : 0;
    return again;
}

/* ---- in the cases ---------------------------------------------------------------------------- */

/* A case is worth the more calls that can fail, up to so many; among equals that which shows the
 * point of the exercise, else the quickest. */
static int worth(const case_result *r, int function, double longest)
{
    const int calls = r->calls[function];
    return r->status != PASSED || r->seconds > longest ? 0 : calls < ENOUGH ? calls : ENOUGH;
}

static bool rather(const case_state *s, const case_result results[], int i, int best)
{
    const char *see = s->exercise->see;
    if (see && strcmp(s->exercise->cases[best].name, see) == 0) return false;
    if (see && strcmp(s->exercise->cases[i].name, see) == 0) return true;
    return results[i].seconds < results[best].seconds;
}

/* Of a part that is right. @return -1: none that may be shown */
static int best_within(const case_state *s, const case_result results[], int count, int function,
                       double longest)
{
    int best = -1, most = 0;
    for (int i = 0; s->exercise->cases[i].name; i++) {
        const int here = worth(&results[i], function, longest);
        if (s->exercise->cases[i].line || here == 0 || here < most) continue;
        if (here == most && !rather(s, results, i, best)) continue;
        if (!part_is_right(results, count, results[i].part)) continue;
        best = i;
        most = here;
    }
    return best;
}

static int best_case(const case_state *s, const case_result results[], int count, int function)
{
    int best = -1;
    for (double longest = has_networks(s) ? LONGEST_ONCE : LONGEST; best < 0 && longest <= BUSY;
         longest *= 2)
        best = best_within(s, results, count, function, longest);
    return best;
}

/* What the case itself says is of a call without threads, or of that after calls that failed. */
static char *with_words(const case_state *s, char *message)
{
    char *both = NULL, number[16], before[80];
    if (!message || !s->refuse_at) return message;
    const char *what = s->place == ON_HOST ? "from the %s on, pthread_create returned EAGAIN"
                       : s->refused_last   ? "its %s call returned cudaErrorNotSupported"
                                           : "calls from the %s on failed before this one";
    snprintf(before, sizeof before, what, nth(s->refuse_at, number));
    const int length = asprintf(&both, "%s: %s", before, message);
    if (length < 0) abort();
    free(message);
    return both;
}

static char *run_function(case_state *s, const grading_case *c, int function)
{
    char *message = NULL;
    for (s->refuse_at = 1; !message && s->refuse_at <= MOST_CALLS; s->refuse_at++) {
        s->refused_last = false;
        message = with_words(s, run_case_once(s, c, secret_seed(s, c->name)));
        if (!s->refused_last) break;
        s->refused &= ~(1u << function);
    }
    s->refuse_at = 0;
    s->refused |= 1u << function;
    return message;
}

bool failures_wanted(const options *o)
{
    const char *only = o->case_name, *start = o->case_start;
    if (o->metric_start) return false;
    if (only) return strcmp(only, FAILURES_CASE) == 0;
    return !start || (*start && strncmp(start, FAILURES_CASE, strlen(start)) == 0);
}

int run_failures(case_state *s, case_result results[], int count)
{
    for (int f = 0; f < 24 && s->exercise->functions[f]; f++) {
        const int best = best_case(s, results, count, f);
        s->refused = ~(1u << f); /* those that precede it have cases of their own */
        if (best < 0) continue;
        case_drop_worker(s); /* what the library does once may fail, too */
        char *message = run_function(s, &s->exercise->cases[best], f);
        const char *part = results[best].part;
        if (message) results[count++] = case_of_call(s, FAILURES_CASE, part, message);
    }
    return count;
}
