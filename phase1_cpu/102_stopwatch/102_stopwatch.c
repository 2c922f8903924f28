/*
 * 102_stopwatch.c: how long a function takes, and how far that can be trusted.
 *
 * The idea: one measurement proves little. The first calls pay for cold caches, page faults and a
 * processor that is still in a low-power state: call f a few times before the clock counts. Then
 * time each call alone and keep all the times. A disturbance (an interrupt, another process) only
 * ever makes a call longer, now and then a hundred times: it moves the mean, but not the median.
 * The width of the middle half of the times shows how far the median can be trusted.
 *
 * Use the wall clock. The processor's clock, clock(), adds up the time of all threads, and stands
 * still while f sleeps or waits for a GPU.
 *
 * The cost it removes: conclusions from a number that the next run does not repeat.
 * The cost it leaves: every time includes about one reading of the clock, some 20 to 50 ns. Work of
 * less than a microsecond must be repeated within f.
 */
#include "102_stopwatch/stopwatch.h"
#include "not_implemented.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* TODO: nanoseconds: what the clock says now (about 3 lines). */

/* TODO: ascending: the order of two times, for qsort (about 2 lines). */

double bench_ns(void (*f)(void *), void *arg, int warm, int reps, double *spread)
{
    /* TODO: warm calls; room for all times, and the timed calls; sort; median and spread
       (about 18 lines). */
    NOT_IMPLEMENTED(f, arg, warm, reps, spread);
    return 0;
}
