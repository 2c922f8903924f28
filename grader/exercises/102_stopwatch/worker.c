/* worker.c: what the stopwatch of 102 is to time (plan.h): it has a clock of its own. And what the
 * stopwatch does with memory. */
#include "worker/worker.h"

#include "plan.h"

#include <malloc.h>
#include <math.h>
#include <sys/resource.h>
#include <time.h>

static long long nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void timed_work(void *context)
{
    stopwatch_plan *plan = context_hidden(context);
    if (!plan) return; /* not what the stopwatch was given for it */
    const long long began = nanoseconds();
    const int call = plan->calls++;
    const int length = plan->length[call < PLAN_CALLS ? call : PLAN_CALLS - 1];
    const struct timespec sleep = {length / 1000000000, length % 1000000000};
    if (plan->sleeps) nanosleep(&sleep, NULL);
    while (nanoseconds() - began < length) continue;
    if (call < PLAN_CALLS) plan->took[call] = (int)(nanoseconds() - began);
}

static void no_work(void *context)
{
    (void)context;
}

/* @return the median; NaN where the library has no stopwatch */
static double measure(int reps)
{
    typedef double stopwatch(void (*)(void *), void *, int, int, double *);
    stopwatch *bench_ns = (stopwatch *)code_function("bench_ns");
    return bench_ns ? bench_ns(no_work, NULL, 0, reps, NULL) : NAN;
}

/* What it returns when no memory is left. */
static double bench_ns_without_memory(int reps)
{
    struct rlimit was;
    getrlimit(RLIMIT_AS, &was);
    setrlimit(RLIMIT_AS, &(struct rlimit){0, was.rlim_max});
    const double median = measure(reps);
    setrlimit(RLIMIT_AS, &was);
    return median;
}

static double bytes_in_use(void)
{
    const struct mallinfo2 m = mallinfo2();
    return (double)m.uordblks + (double)m.hblkhd;
}

/* The bytes that a second measurement takes and does not give back. */
static double bytes_that_bench_ns_keeps(int reps)
{
    measure(reps);
    const double before = bytes_in_use();
    measure(reps);
    return bytes_in_use() - before;
}

WORKER_FUNCTION(timed_work);
WORKER_FUNCTION(bench_ns_without_memory);
WORKER_FUNCTION(bytes_that_bench_ns_keeps);
