/*
 * speed.c: one function of the student against a frozen baseline. Each pair of calls gets fresh
 * inputs, flushed caches, other addresses and a size of its own; student and baseline take turns,
 * so that both see the same clocks; and the outputs of every timed call of the student's are
 * judged. speed_rules.c interprets the times. While they decide nothing, another round of pairs is
 * measured, up to a limit of rounds and of time.
 */
#include "measure.h"

#include "timer.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP 2
#define PAIRS   15   /* of a round */
#define HANDFUL 5    /* pairs, after which a hopeless round is left */
#define LONG    0.25 /* seconds, after which a plain one is, too */
#define ROUNDS  4    /* at most, also of those that are asked for */
#define BUDGET  30.0 /* seconds, after which no round begins */
#define VARIED  16   /* a size is up to one part of so many smaller than it is written */
#define NVML    "libnvidia-ml.so.1"

_Static_assert(ROUNDS *PAIRS <= SAMPLES_MAX, "all pairs must have room");

enum { STUDENT, BASELINE };

typedef struct timed {
    double seconds, overhead; /* of the whole shape; that the grader saw beyond the call itself */
    double overhead_cpu;      /* seconds, as the others: worked before and after it */
} timed;

typedef struct timing {
    const speed_test *test;
    const device_facts *device;
    const char *library[2];
    case_state *state;
    double seconds[2][SAMPLES_MAX], overhead[2][SAMPLES_MAX], ratio[SAMPLES_MAX];
    int pairs, turn;
    bool broken;              /* by a call of the student's */
    double wall, waited;      /* sums over all timed calls */
    double stolen, processor; /* of all cores, when the first pair began */
    random_state sizes;
    nvml *nvml;
    speed_clocks clocks;
} timing;

/* ---- the machine ----------------------------------------------------------------------------- */

static double share_stolen(const timing *t)
{
    double stolen, processor;
    read_stolen(&stolen, &processor);
    return processor > t->processor ? (stolen - t->stolen) / (processor - t->processor) : 0.0;
}

/* ---- one pair -------------------------------------------------------------------------------- */

/* The size that a submission would have to know to recognise the timing is a secret of the pair.
 * Whole groups of 16 keep rows aligned and tiles nearly whole. @return what part of it is left */
static double vary(long shape[SHAPE_MAX], timing *t)
{
    const int i = t->test->varied;
    const long whole = t->test->shape[i], step = whole >= 512 ? 16 : 1;
    memcpy(shape, t->test->shape, sizeof t->test->shape);
    shape[i] -= step * (long)random_below(&t->sizes, (uint64_t)(whole / VARIED / step) + 1);
    return (double)shape[i] / (double)whole;
}

/* @return the message of a call that failed, or NULL */
static char *time_call(timing *t, int who, const long *shape, double part, timed *result)
{
    const speed_test *test = t->test;
    const char *function = who == STUDENT ? test->function : test->baseline;
    worker **where = who == STUDENT ? &t->state->worker : &t->state->baseline_worker;
    t->state->request.is_baseline = who == BASELINE;
    char *message = run_in(t->state, where, t->library[who], test->run, function, shape);
    if (message) {
        t->broken = who == STUDENT && t->state->failure != FAILURE_DEADLINE;
        return message;
    }
    const call_outcome *o = &t->state->last;
    *result = (timed){o->seconds / part, o->overhead, o->overhead_cpu / part};
    t->wall += o->wall;
    t->waited += o->waited;
    return NULL;
}

/* They take turns in beginning, and buffers in where they lie. */
static char *measure_pair(timing *t, timed pair[2])
{
    long shape[SHAPE_MAX];
    const double part = vary(shape, t);
    const int first = t->turn % 2;
    t->state->request.relocate = t->turn / 2 % 2;
    t->turn++;
    char *message = time_call(t, first, shape, part, &pair[first]);
    return message ? message : time_call(t, !first, shape, part, &pair[!first]);
}

/* On the CPU, what the student's worker works beside the call beyond what the baseline's does,
 * which copies the same, is work of the call. */
static void keep_pair(timing *t, timed pair[2])
{
    const speed_test *test = t->test;
    if (t->state->place & ON_CPU)
        pair[STUDENT].seconds +=
            work_hidden(pair[STUDENT].overhead_cpu, pair[BASELINE].overhead_cpu);
    const double work = test->work > 0 ? test->work / test->baseline_work : 1.0;
    for (int who = STUDENT; who <= BASELINE; who++) {
        t->seconds[who][t->pairs] = pair[who].seconds;
        t->overhead[who][t->pairs] = pair[who].overhead;
    }
    t->ratio[t->pairs++] = pair[BASELINE].seconds / pair[STUDENT].seconds * work;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void watch_clocks(timing *t)
{
    const gpu_state state = nvml_read(t->nvml);
    clocks_watch(&t->clocks, &state, 2);
}

static char *warm_up(timing *t)
{
    timed pair[2];
    char *message = NULL;
    for (int i = 0; i < WARM_UP && !message; i++) message = measure_pair(t, pair);
    t->wall = t->waited = 0.0;
    read_stolen(&t->stolen, &t->processor);
    watch_clocks(t);
    return message;
}

/* Need no more pairs be measured? */
static bool is_clear(const timing *t, double seconds)
{
    const interval ratio = bootstrap(t->ratio, t->pairs);
    return speed_hopeless(ratio.high, t->test->threshold) ||
           (seconds > LONG && speed_plain(ratio.low, t->test->threshold));
}

static char *measure_round(timing *t)
{
    timed pair[2];
    const double began = seconds_now();
    for (int i = 0; i < PAIRS; i++) {
        report_progress("%s %s: speed, pair %d", id_words(t->state->exercise->id),
                        t->state->exercise->name, t->pairs + 1);
        char *message = measure_pair(t, pair);
        if (message) return message;
        keep_pair(t, pair);
        watch_clocks(t);
        if (t->pairs % HANDFUL == 0 && is_clear(t, seconds_now() - began)) break;
    }
    return NULL;
}

static void sum_up(const timing *t, speed_result *r)
{
    const interval ratio = bootstrap(t->ratio, t->pairs);
    r->ratio = ratio.median;
    r->low = ratio.low;
    r->high = ratio.high;
    r->pairs = t->pairs;
    r->seconds = quantile(t->seconds[STUDENT], t->pairs, 0.5);
    r->baseline_seconds = quantile(t->seconds[BASELINE], t->pairs, 0.5);
    r->waited = t->wall > 0 ? fmin(t->waited / t->wall, 1.0) : 0.0;
    r->stolen = share_stolen(t);
    r->clocks = t->clocks;
}

static char *words(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *words(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) text = NULL;
    va_end(arguments);
    return text;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Is there a ratio at all? @return NULL, or why not, with the status that it means */
static char *find_fault(const timing *t, speed_result *r)
{
    const double hidden = quantile(t->overhead[STUDENT], t->pairs, 0.5);
    const double honest = quantile(t->overhead[BASELINE], t->pairs, 0.9);
    const double rate = peer_rate(r, t->device);
    const char *impossible = speed_ceiling(r, t->device);
    r->status = FAILED;
    if (impossible) {
        return words("impossible: %.1f us is less than this device's %s allows", r->seconds * 1e6,
                     impossible);
    }
    if (!clocks_agree(r->seconds, hidden, honest)) {
        if (speed_disturbed(r)) r->status = TOO_NOISY;
        return words("%s: its clock shows %.1f us, the grader's clock %.1f us more; for the "
                     "baseline they differ by at most %.1f us",
                     r->status == FAILED ? "void" : "too noisy", r->seconds * 1e6, hidden * 1e6,
                     honest * 1e6);
    }
    r->status = TOO_NOISY;
    if (peer_is_sane(rate)) return NULL;
    return words("too noisy: the baseline itself ran at %.0f %% of its known rate, which voids the "
                 "ratio: the machine is busy or slowed down; grade it again",
                 100 * rate);
}

/* What disturbed it, as far as that can be told. */
static char *tell_noise(const speed_result *r)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    fprintf(to,
            "too noisy: %.2f, 95 %% between %.2f and %.2f after %d pairs; the threshold is %.2f",
            r->ratio, r->low, r->high, r->pairs, r->test->threshold);
    if (r->waited >= 0.01)
        fprintf(to, "; calls waited %.0f %% of the time for a core", 100 * r->waited);
    if (r->stolen >= 0.01) fprintf(to, "; the host took %.0f %% of the cores", 100 * r->stolen);
    if (clocks_throttled(&r->clocks))
        fprintf(to, "; the GPU was throttled: %s", clocks_reasons(&r->clocks));
    if (r->clocks.others) fprintf(to, "; %u other processes used the GPU", r->clocks.others);
    fputs("; grade it again when nothing else runs", to);
    fclose(to);
    return text;
}

/* A round in which the GPU was throttled, or in which nothing could be concluded, is forgotten when
 * there is another; those of a machine that is merely noisy add up. */
static void forget(timing *t, const speed_result *r)
{
    if (!r->message && !clocks_throttled(&t->clocks)) return;
    t->pairs = 0;
    t->clocks.reasons = 0;
}

static void measure(timing *t, speed_result *r)
{
    const double began = seconds_now();
    const int asked = t->state->options->rounds,
              rounds = asked > 0 && asked < ROUNDS ? asked : ROUNDS;
    r->status = FAILED;
    r->message = warm_up(t);
    for (int round = 1; !r->message; round++) {
        const bool last = round == rounds || seconds_now() - began > BUDGET;
        r->status = FAILED; /* that of a call that fails */
        if ((r->message = measure_round(t))) return;
        sum_up(t, r);
        if ((r->message = find_fault(t, r)))
            r->ratio = r->low = r->high = 0.0; /* there is none, and nothing to be earned by it */
        else
            r->status = speed_verdict(r, last);
        if (last || (!r->message && r->status != TOO_NOISY)) break;
        forget(t, r);
        free(r->message);
        r->message = NULL;
    }
    if (!r->message && r->status == TOO_NOISY) r->message = tell_noise(r);
}

void run_speed(case_state *state, const speed_test *test, const char *baseline_library,
               const device_facts *device, speed_result *result)
{
    timing t = {.test = test,
                .state = state,
                .device = device,
                .library = {state->library, baseline_library},
                .sizes = random_seed(secret_seed(state, "sizes"))};
    if (state->place == ON_GPU) t.nvml = nvml_open(NVML, device->pci);
    const call_request usual = state->request;
    state->random = random_seed(secret_seed(state, result->metric));
    state->request.timed = true;
    state->request.from_idle = test->from_idle;
    state->request.wall_clock = test->wall_clock;
    state->request.against_guard = state->request.relocate = false;
    state->request.misaligned = false;
    state->request.shuffle = 0;
    state->request.deadline = 60.0;
    measure(&t, result);
    result->broken = t.broken;
    state->request = usual;
    nvml_close(t.nvml);
}
