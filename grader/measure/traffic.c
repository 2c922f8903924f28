/*
 * traffic.c: what one function of the student costs in softgpu's counters, alone or against a
 * frozen baseline that is counted beside it. No clock takes part: the numbers come from a call with
 * inputs that are the same in every grading, so they are the same in every grading. A second call,
 * with secret inputs of the same shape, must cost about as much: no answer can be brought along.
 * The outputs of every counted call are judged.
 */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_SEED 1    /* of the inputs whose counts are reported */
#define ALIKE     0.05 /* by how much the counts of secret inputs may differ from those */

static const traffic_test *current;

/* One counted call. @return what failed, or NULL */
static char *count_call(worker **where, const char *library, const char *function,
                        unsigned long long seed, device_counts *counts)
{
    now.random = random_seed(seed);
    char *message = run_in(where, library, current->run, function, current->shape);
    if (!message && now.finding) {
        message = now.finding;
        now.finding = NULL;
    }
    *counts = now.counts;
    return message;
}

static char *count_baseline(const char *library, device_counts *counts)
{
    worker *own = NULL;
    if (!current->baseline) return NULL;
    char *message = count_call(&own, library, current->baseline, OPEN_SEED, counts);
    worker_stop(own);
    return message;
}

/* Work that no kernel did costs nothing that is counted. */
static char *count_student(unsigned long long seed, device_counts *counts)
{
    char *message = count_call(&now.worker, now.library, current->function, seed, counts);
    if (!message && counts->launches == 0) message = strdup("it launches no kernel");
    return message;
}

double traffic_number(const traffic_test *test, const device_counts *counts,
                      const device_counts *baseline)
{
    const double count = test->count(counts);
    if (test->baseline) return count > 0.0 ? test->count(baseline) / count : 0.0;
    return test->ideal > 0.0 ? count / test->ideal : count;
}

bool traffic_meets(const traffic_test *test, double number)
{
    switch (test->bound) {
    case AT_LEAST: return number >= test->wanted;
    case AT_MOST: return number <= test->wanted;
    default: return number == test->wanted;
    }
}

const char *bound_name(bound b)
{
    static const char *const names[] = {"at least", "at most", "exactly"};
    return names[b];
}

/* @return what is wrong with the number of the open call, or with that of the secret one; or NULL
 */
static char *judge_numbers(double open, double secret)
{
    char *message = NULL, unlike[64] = "";
    const bool alike = fabs(secret - open) <= ALIKE * fabs(open);
    const bool met = traffic_meets(current, open);
    if (met && (alike || traffic_meets(current, secret))) return NULL;
    if (met) snprintf(unlike, sizeof unlike, " but %.2f for other inputs", secret);
    if (asprintf(&message, "counted %.2f%s, wanted %s %.2f", open, unlike,
                 bound_name(current->bound), current->wanted) < 0) {
        abort();
    }
    return message;
}

static char *count_all(const char *baseline_library, double *number)
{
    device_counts open = {0}, secret = {0}, baseline = {0};
    char *message = count_baseline(baseline_library, &baseline);
    if (!message) message = count_student(OPEN_SEED, &open);
    if (!message) message = count_student(secret_seed(current->metric), &secret);
    if (message) return message;
    *number = traffic_number(current, &open, &baseline);
    return judge_numbers(*number, traffic_number(current, &secret, &baseline));
}

void run_traffic(const traffic_test *test, const char *baseline_library, traffic_result *result)
{
    report_progress("%d %s: traffic", now.exercise->id, now.exercise->name);
    current = test;
    now.counted = true;
    now.relocate = now.against_guard = false;
    now.deadline = 60.0;
    result->counted = NAN;
    result->message = count_all(baseline_library, &result->counted);
    result->status = result->message ? FAILED : PASSED;
    now.counted = false;
}
