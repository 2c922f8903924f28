// RIGHT: whole nanoseconds, put in their place with a shell sort
#include "102_stopwatch/stopwatch.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static int64_t elapsed(const struct timespec *from, const struct timespec *to)
{
    return (int64_t)(to->tv_sec - from->tv_sec) * INT64_C(1000000000) + to->tv_nsec - from->tv_nsec;
}

static void shell_sort(int64_t *x, long n)
{
    long gap = 1;
    while (gap < n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (long i = gap; i < n; i++) {
            const int64_t value = x[i];
            long j = i;
            for (; j >= gap && x[j - gap] > value; j -= gap) x[j] = x[j - gap];
            x[j] = value;
        }
    }
}

static double spread_of(const int64_t *sorted, long n, double median)
{
    if (median <= 0) return 0;
    return (double)(sorted[n - 1 - n / 4] - sorted[n / 4]) / median;
}

double bench_ns(void (*f)(void *), void *arg, int warm, int reps, double *spread)
{
    int64_t *took = reps > 0 ? malloc(sizeof(int64_t[reps])) : NULL;
    if (!took) {
        if (spread) *spread = 0;
        return reps > 0 ? NAN : 0;
    }
    while (warm-- > 0) f(arg);
    struct timespec begin, end;
    for (long i = 0; i < reps; i++) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        f(arg);
        clock_gettime(CLOCK_MONOTONIC, &end);
        took[i] = elapsed(&begin, &end);
    }
    shell_sort(took, reps);
    double median = (double)took[reps / 2];
    if (reps % 2 == 0) median = (median + (double)took[reps / 2 - 1]) / 2;
    if (spread) *spread = spread_of(took, reps, median);
    free(took);
    return median;
}
