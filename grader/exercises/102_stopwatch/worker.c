/* worker.c: what the stopwatch of 102 is to time (plan.h): it has a clock of its own. */
#include "worker/worker.h"

#include "plan.h"

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
    const struct timespec sleep = {0, length};
    if (plan->sleeps) nanosleep(&sleep, NULL);
    while (nanoseconds() - began < length) continue;
    if (call < PLAN_CALLS) plan->took[call] = (int)(nanoseconds() - began);
}

WORKER_FUNCTION(timed_work);
