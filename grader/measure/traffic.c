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

/* What is counted of whom. */
typedef struct counting {
    case_state *state;
    const traffic_test *test;
} counting;

/* One counted call. @return what failed, or NULL */
static char *count_call(const counting *c, worker **where, const char *library,
                        const char *function, unsigned long long seed, device_counts *counts)
{
    case_state *s = c->state;
    s->random = random_seed(seed);
    char *message = run_in(s, where, library, c->test->run, function, c->test->shape);
    if (!message && s->found_count > 0) message = case_take_found(s);
    *counts = s->last.counts;
    return message;
}

static char *count_baseline(const counting *c, const char *library, device_counts *counts)
{
    worker *own = NULL;
    if (!c->test->baseline) return NULL;
    char *message = count_call(c, &own, library, c->test->baseline, OPEN_SEED, counts);
    worker_stop(own);
    return message;
}

/* Work that no kernel did costs nothing that is counted. */
static char *count_student(const counting *c, unsigned long long seed, device_counts *counts)
{
    char *message =
        count_call(c, &c->state->worker, c->state->library, c->test->function, seed, counts);
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
static char *judge_numbers(const traffic_test *t, double open, double secret)
{
    char *message = NULL, unlike[64] = "";
    const bool alike = fabs(secret - open) <= ALIKE * fabs(open);
    const bool met = traffic_meets(t, open);
    if (met && (alike || traffic_meets(t, secret))) return NULL;
    if (met) snprintf(unlike, sizeof unlike, " but %.2f for other inputs", secret);
    if (asprintf(&message, "counted %.2f%s, wanted %s %.2f", open, unlike, bound_name(t->bound),
                 t->wanted) < 0) {
        abort();
    }
    return message;
}

static char *count_all(const counting *c, const char *baseline_library, double *number)
{
    device_counts open = {0}, secret = {0}, baseline = {0};
    char *message = count_baseline(c, baseline_library, &baseline);
    if (!message) message = count_student(c, OPEN_SEED, &open);
    if (!message) message = count_student(c, secret_seed(c->state, c->test->metric), &secret);
    if (message) return message;
    *number = traffic_number(c->test, &open, &baseline);
    return judge_numbers(c->test, *number, traffic_number(c->test, &secret, &baseline));
}

void run_traffic(case_state *state, const traffic_test *test, const char *baseline_library,
                 traffic_result *result)
{
    const call_request usual = state->request;
    report_progress("%d %s: traffic", state->exercise->id, state->exercise->name);
    state->request.counted = true;
    state->request.relocate = state->request.against_guard = false;
    state->request.deadline = 60.0;
    result->counted = NAN;
    result->message = count_all(&(counting){state, test}, baseline_library, &result->counted);
    result->status = result->message ? FAILED : PASSED;
    state->request = usual;
}
