/*
 * stopwatch.h: the contract of exercise 102. The conventions are in cpu.h.
 */
#ifndef COURSE_STOPWATCH_H
#define COURSE_STOPWATCH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How long does f(arg) take? Calls it warm times, then reps times, and times each of the latter
 * alone by the clock of the wall (CLOCK_MONOTONIC). warm below 0 is as 0. reps below 1: f is not
 * called at all, the result and the spread are 0.
 * @param spread receives (t[reps - 1 - reps/4] - t[reps/4]) / median, where t[reps] are the times
 *               in ascending order: the middle half's width. 0 where the median is 0; may be NULL
 * @return the median of the reps times in nanoseconds; of an even number the mean of the two in the
 *         middle. NaN when memory is short
 */
double bench_ns(void (*f)(void *), void *arg, int warm, int reps, double *spread);

#ifdef __cplusplus
}
#endif

#endif
