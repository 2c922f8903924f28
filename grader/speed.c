/*
 * speed.c: one function of the student against a frozen baseline. Each pair of calls gets fresh
 * inputs and flushed caches, student and baseline take turns so that both see the same clocks, and
 * the outputs of every timed call are judged. The verdict comes from the ratios of the pairs.
 */
#include "grader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP    2
#define PAIRS      15
#define MAX_PAIRS  45 /* near the threshold: up to three rounds */
#define COPY_SLACK 1.05

typedef struct timing {
    double student[MAX_PAIRS], baseline[MAX_PAIRS], ratio[MAX_PAIRS];
    int pairs;
    worker *worker; /* of the baseline */
} timing;

static const speed_test *current;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *values, int count, int rank)
{
    double sorted[MAX_PAIRS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return sorted[rank];
}

static double median(const double *values, int count)
{
    return quantile(values, count, count / 2);
}

/* One timed call in the given worker. @return seconds, or -1 with *message set */
static double time_call(worker **where, const char *library, const char *function, char **message)
{
    *message = run_in(where, library, current->run, function, current->shape);
    return *message ? -1.0 : now.seconds;
}

static char *add_pair(timing *t, const char *baseline_library, bool keep)
{
    char *message = NULL;
    double student = time_call(&now.worker, now.library, current->function, &message);
    if (message) return message;
    double baseline = time_call(&t->worker, baseline_library, current->baseline, &message);
    if (message || !keep) return message;
    const double work = current->work > 0 ? current->work / current->baseline_work : 1.0;
    t->student[t->pairs] = student;
    t->baseline[t->pairs] = baseline;
    t->ratio[t->pairs++] = baseline / student * work;
    return NULL;
}

/* The interval that holds the median with 95 % confidence, whatever the distribution: its ends are
 * the order statistics at (n -+ 1.96 sqrt n) / 2. */
static void interval(const timing *t, double *low, double *high)
{
    const int n = t->pairs, half = (int)ceil(0.98 * sqrt(n));
    int first = n / 2 - half, last = n / 2 + half;
    *low = quantile(t->ratio, n, first < 0 ? 0 : first);
    *high = quantile(t->ratio, n, last >= n ? n - 1 : last);
}

static bool undecided(const timing *t)
{
    double low, high;
    interval(t, &low, &high);
    return low < current->threshold && high >= current->threshold;
}

static char *measure(timing *t, const char *baseline_library)
{
    char *message = NULL;
    for (int i = 0; i < WARM_UP && !message; i++) message = add_pair(t, baseline_library, false);
    do {
        for (int i = 0; i < PAIRS && !message; i++) {
            report_progress("%d %s: speed, pair %d", now.exercise->id, now.exercise->name,
                            t->pairs + 1);
            message = add_pair(t, baseline_library, true);
        }
    } while (!message && t->pairs < MAX_PAIRS && undecided(t));
    return message;
}

/* Faster than the device can be is no result. */
static char *ceiling(const speed_result *result, const device_facts *device)
{
    const speed_test *test = result->test;
    const char *what = NULL;
    if (test->flop > 0 && device->flop_per_second > 0 &&
        test->flop / result->seconds > device->flop_per_second) {
        what = "arithmetic";
    }
    if (test->bytes > 0 && device->copy_bytes_per_second > 0 &&
        test->bytes / result->seconds > COPY_SLACK * device->copy_bytes_per_second) {
        what = "memory";
    }
    char *message = NULL;
    if (what && asprintf(&message, "impossible: %.1f us is beyond what this device's %s can do",
                         result->seconds * 1e6, what) < 0) {
        message = NULL;
    }
    return message;
}

void run_speed(const speed_test *test, const char *baseline_library, const device_facts *device,
               speed_result *result)
{
    timing t = {0};
    current = test;
    now.timed = true;
    now.relocate = false;
    now.against_guard = false;
    now.deadline = 60.0;
    result->message = measure(&t, baseline_library);
    worker_stop(t.worker);
    now.timed = false;

    result->pairs = t.pairs;
    result->status = FAILED;
    if (result->message) return;
    result->ratio = median(t.ratio, t.pairs);
    interval(&t, &result->low, &result->high);
    result->seconds = median(t.student, t.pairs);
    result->baseline_seconds = median(t.baseline, t.pairs);
    result->message = ceiling(result, device);
    if (!result->message && result->ratio >= test->threshold) result->status = PASSED;
}
