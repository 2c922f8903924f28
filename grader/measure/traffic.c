/*
 * traffic.c: the cost of one function of the student in softgpu's counters, alone or against a
 * frozen baseline that is counted too. No clock takes part: the numbers come from a call with
 * inputs that are the same in every grading, so they are the same in every grading. A second call,
 * with secret inputs, must cost about as much: so no stored answer can pass. Against a baseline it
 * is also of another shape, of which the baseline is counted again, and so are tensor instructions,
 * whose number the shape tells; other counts are of one shape. The outputs of every counted call
 * are judged. A count below the least that the task needs is impossible, as a time can be: some of
 * the work was done where nothing is counted. Tests that ask for several counts of one call share
 * the call.
 */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_SEED 1    /* of the inputs whose counts are reported */
#define ALIKE     0.05 /* by how much the counts of secret inputs may differ from those */
#define ROUNDING  1e-6
/* Of the task's multiplications others than tensor instructions may make this share: what else a
 * training step does has a quarter. */
#define OUTSIDE (1.0 / 3)

/* What is counted of whom. */
typedef struct counting {
    case_state *state;
    traffic_test test;  /* of the shape below */
    const char *metric; /* its sentence */
    long shape[SHAPE_MAX];
    counted_calls *so_far;
    bool broken; /* by a call of the student's */
} counting;

/* Whole groups of 16 keep rows aligned and tiles nearly whole. */
static void vary_shape(counting *c, random_state *random)
{
    long *size = &c->shape[c->test.varied];
    const long before = *size;
    if (!c->test.baseline && c->test.multiplications <= 0.0) return;
    if (*size >= 64)
        *size -= 16 * (1 + (long)random_below(random, (uint64_t)*size / 64));
    else
        *size += *size > 1 ? -1 : 1;
    c->test.ideal *= (double)*size / (double)before;
    c->test.multiplications *= (double)*size / (double)before;
}

static bool is_same_call(const struct counted_call *a, const struct counted_call *b)
{
    return a->run == b->run && a->seed == b->seed && strcmp(a->function, b->function) == 0 &&
           strcmp(a->library, b->library) == 0 && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

/* @return the call with its counts, if one like it went well before; or NULL */
static const struct counted_call *counted_before(const counted_calls *all,
                                                 const struct counted_call *call)
{
    for (int i = 0; i < all->count; i++) {
        if (is_same_call(&all->calls[i], call)) return &all->calls[i];
    }
    return NULL;
}

static void keep_counted(counted_calls *all, const struct counted_call *call)
{
    const int most = (int)(sizeof all->calls / sizeof *all->calls);
    if (all->count < most) all->calls[all->count++] = *call;
}

/* One counted call. @return what failed, or NULL */
static char *count_call(const counting *c, worker **where, const char *library,
                        const char *function, unsigned long long seed, device_counts *counts)
{
    case_state *s = c->state;
    struct counted_call call = {c->test.run, function, library, .seed = seed};
    memcpy(call.shape, c->shape, sizeof call.shape);
    const struct counted_call *before = counted_before(c->so_far, &call);
    if (before) {
        *counts = before->counts;
        return NULL;
    }
    s->random = random_seed(seed);
    char *message = run_in(s, where, library, call.run, function, c->shape);
    *counts = call.counts = s->last.counts;
    if (!message && s->found_count == 0) keep_counted(c->so_far, &call);
    return message;
}

static char *count_baseline(const counting *c, const char *library, device_counts *counts)
{
    worker *own = NULL;
    if (!c->test.baseline) return NULL;
    char *message = count_call(c, &own, library, c->test.baseline, OPEN_SEED, counts);
    worker_stop(own);
    if (!message && c->state->found_count > 0) message = case_take_found(c->state);
    return message;
}

/* Work that no kernel did costs nothing that is counted. */
static char *count_student(counting *c, unsigned long long seed, device_counts *counts)
{
    case_state *s = c->state;
    char *message = count_call(c, &s->worker, s->library, c->test.function, seed, counts);
    c->broken = message ? s->failure != FAILURE_DEADLINE : s->found_count > 0;
    if (!message && !c->broken && counts->launches == 0 && !c->test.no_kernels)
        message = strdup("it launches no kernel");
    return message;
}

/* Without nvcc what is of sm_90a takes its other path, which is not the one that is to be counted.
 */
const char *traffic_needs(const exercise *e, const traffic_test *t, place where)
{
    const char *nvcc = getenv("NVCC");
    if (where != ON_SOFTGPU) return "skipped: needs softgpu";
    if (t->by_any_compiler || !e->softgpu_90 || !e->sm_90a) return NULL;
    return nvcc && *nvcc ? NULL : "skipped: needs nvcc";
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

static bool are_alike(double open, double secret)
{
    return fabs(secret - open) <= ALIKE * fabs(open);
}

double traffic_for_points(const traffic_test *test, double open, double secret)
{
    if (traffic_meets(test, open) || are_alike(open, secret)) return open;
    return test->bound == AT_LEAST ? fmin(open, secret) : fmax(open, secret);
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
    const bool met = traffic_meets(t, open), tiles = t->multiplications > 0.0; /* some not whole */
    const bool met_again = are_alike(open, secret) || traffic_meets(t, secret);
    if (met && (met_again || (tiles && secret >= open))) return NULL;
    char counted[32], other[32], wanted[32];
    if (met) snprintf(unlike, sizeof unlike, " but %s for other inputs", count_text(other, secret));
    if (asprintf(&message, "counted %s%s, wanted %s %s", count_text(counted, open), unlike,
                 bound_name(t->bound), count_text(wanted, t->wanted)) < 0) {
        abort();
    }
    return message;
}

/* Every sector that takes part is moved at least once. One launch of the baseline touches these;
 * without a baseline they come to `ideal`. */
static double least_of(const traffic_test *t, const device_counts *baseline)
{
    const bool moves = t->count == moved_bytes || t->count == stored_bytes;
    if (t->least > 0.0) return t->least * (t->ideal > 0.0 ? t->ideal : 1.0);
    if (t->baseline) return moves && baseline->launches == 1 ? (double)baseline->footprint : 0.0;
    return t->bound == AT_MOST && (moves || t->count == footprint_bytes) ? t->ideal : 0.0;
}

char *traffic_impossible(const traffic_test *t, const device_counts *counts,
                         const device_counts *baseline)
{
    char *message = NULL, counted[32], needed[32];
    const double count = t->count(counts), least = least_of(t, baseline);
    if (count >= least * (1.0 - ROUNDING)) return NULL;
    if (asprintf(&message, "counted %s, which is impossible: the task takes %s at least",
                 count_text(counted, count), count_text(needed, least)) < 0) {
        abort();
    }
    return message;
}

/* Products that are made twice, once as they are graded. */
static char *tensors_for_show(const traffic_test *t, const device_counts *counts)
{
    char *message = NULL, made[32], task[32];
    const double most = OUTSIDE * t->multiplications;
    if (t->multiplications <= 0.0 || (double)counts->multiplications <= most) return NULL;
    if (asprintf(&message,
                 "tensor instructions do not do the work: %s multiplications are made outside of "
                 "them, and the products need %s",
                 count_text(made, (double)counts->multiplications),
                 count_text(task, t->multiplications)) < 0) {
        abort();
    }
    return message;
}

/* @return what failed, or NULL */
static char *count_both(counting *c, const char *baseline_library, unsigned long long seed,
                        double *number)
{
    device_counts student = {0}, baseline = {0};
    char *message = count_baseline(c, baseline_library, &baseline);
    if (!message) message = count_student(c, seed, &student);
    if (!message && !c->broken) message = traffic_impossible(&c->test, &student, &baseline);
    if (!message && !c->broken) message = tensors_for_show(&c->test, &student);
    if (!message && !c->broken) *number = traffic_number(&c->test, &student, &baseline);
    return message;
}

/* One for all tests of the exercise. */
static unsigned long long secret_of(const counting *c)
{
    counted_calls *all = c->so_far;
    if (!all->has_secret) all->secret = secret_seed(c->state, c->metric);
    all->has_secret = true;
    return all->secret;
}

/* Is it a count that alone is of interest, and too high or too low? Then it says all. */
static bool has_missed(const counting *c, double number)
{
    const options *o = c->state->options;
    return o->case_start && o->metric_start && !traffic_meets(&c->test, number);
}

static char *count_all(counting *c, const char *baseline_library, double *number)
{
    double secret;
    const unsigned long long seed = secret_of(c);
    random_state sizes = random_seed(seed);
    char *message = count_both(c, baseline_library, OPEN_SEED, number);
    if (message || c->broken) return message;
    if (has_missed(c, *number)) return judge_numbers(&c->test, *number, *number);
    vary_shape(c, &sizes);
    message = count_both(c, baseline_library, seed, &secret);
    if (message || c->broken) return message;
    message = judge_numbers(&c->test, *number, secret);
    *number = traffic_for_points(&c->test, *number, secret);
    return message;
}

void run_traffic(case_state *state, const traffic_test *test, const char *baseline_library,
                 counted_calls *so_far, traffic_result *result)
{
    const call_request usual = state->request;
    report_progress("%s %s: traffic", id_words(state->exercise->id), state->exercise->name);
    state->request.counted = true;
    state->request.relocate = state->request.against_guard = false;
    state->request.misaligned = false;
    state->request.shuffle = 0;
    state->request.deadline = 60.0 * times_as_long(state->options);
    result->counted = NAN;
    counting c = {.state = state, .test = *test, .metric = result->metric, .so_far = so_far};
    memcpy(c.shape, test->shape, sizeof c.shape);
    result->message = count_all(&c, baseline_library, &result->counted);
    result->broken = c.broken;
    result->status = result->message ? FAILED : PASSED;
    state->request = usual;
}
