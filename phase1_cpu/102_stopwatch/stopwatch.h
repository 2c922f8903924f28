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
 * How long does f(arg) take? It calls f `warm` times without timing. Then it calls f `reps` times
 * and times each call by itself, by the wall clock (CLOCK_MONOTONIC). warm < 0 counts as 0. With
 * reps < 1 f is not called at all, and the result and the spread are 0.
 * @param spread receives (t[reps - 1 - reps/4] - t[reps/4]) / median, where t[reps] are the times
 *               in ascending order: the width of the middle half. 0 if the median is 0; may be NULL
 * @return the median of the reps times in nanoseconds; for an even number the mean of the two in
 *         the middle. NaN when memory is short
 */
double bench_ns(void (*f)(void *), void *arg, int warm, int reps, double *spread);

#ifdef __cplusplus
}
#endif

#endif
