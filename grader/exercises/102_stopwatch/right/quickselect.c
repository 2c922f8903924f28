// RIGHT: the course's clock, and the four times that count, each found without sorting the others
#include "102_stopwatch/stopwatch.h"
#include "random.h"
#include "timer.h"
#include <math.h>
#include <stdlib.h>

static void swap(double *x, double *y)
{
    const double kept = *x;
    *x = *y;
    *y = kept;
}

/* The one that would stand at place k if x[n] were sorted; x is put into another order. */
static double select_kth(double *x, int n, int k, random_state *rng)
{
    int low = 0, high = n - 1;
    while (low < high) {
        const double pivot = x[low + (int)random_below(rng, (uint64_t)(high - low + 1))];
        int i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i <= j) swap(&x[i++], &x[j--]);
        }
        if (k <= j) {
            high = j;
        } else if (k >= i) {
            low = i;
        } else {
            break;
        }
    }
    return x[k];
}

double bench_ns(void (*f)(void *), void *arg, int warm, int reps, double *spread)
{
    double unused;
    if (!spread) spread = &unused;
    *spread = 0.0;
    if (reps <= 0) return 0.0;
    double *seconds = calloc((size_t)reps, sizeof *seconds);
    if (!seconds) return NAN;
    for (int call = warm > 0 ? -warm : 0; call < reps; call++) {
        const double began = seconds_now();
        f(arg);
        if (call >= 0) seconds[call] = seconds_now() - began;
    }
    random_state rng = random_seed(102);
    const double lower = select_kth(seconds, reps, (reps - 1) / 2, &rng);
    const double upper = select_kth(seconds, reps, reps / 2, &rng);
    const double first = select_kth(seconds, reps, reps / 4, &rng);
    const double third = select_kth(seconds, reps, reps - 1 - reps / 4, &rng);
    const double median = (lower + upper) / 2;
    free(seconds);
    *spread = median > 0.0 ? (third - first) / median : 0.0;
    return 1e9 * median;
}
