/*
 * 514_close_the_gaps: a training that is right and waits as it is handed out. Each case judges
 * losses and parameters, and what the student says of the gaps; their counts, mended, are traffic
 * tests, and the case of the page-locked memory. So the skeleton, which has no answers, passes
 * nothing.
 * shape: samples, batch, in, hidden, out, and whether the last sample has a NaN
 */
#include "correctness/case.h"
#include "exercises/shared/answers/hashed_answer.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of losses and parameters, relative to the largest terms: some steps in fp32. */
#define TOLERANCE 1e-5
/* Where a sum before ReLU is nearer to 0, fp32 may take the other branch: no judge. */
#define SAFE_MARGIN 2e-6

enum { SUCCESS, INVALID_VALUE }; /* cudaError_t */

/* ---- the training in double --------------------------------------------------------------------
 */

typedef struct training {
    long count, batch, in, hidden, out, steps, size; /* size: of the parameters */
    float rate;
    float *samples, *params, *losses;
    double *want_params, *want_losses, *loss_scale, *h, *grad_h, *grad_y, *grad, nearest;
    double *scale, *rough, *rough_h; /* of params, their gradient, grad_h: of absolute terms */
} training;

/* `rough` gets the absolute terms, of grad_y with the absolute terms rough_y. */
static void backward_layer(double *grad, double *rough, const double *grad_y, const double *rough_y,
                           const double *x, long in, long out)
{
    for (long i = 0; i <= in; i++) { /* the last one is the bias */
        const double x_i = i < in ? x[i] : 1.0;
        for (long j = 0; j < out; j++) {
            grad[i * out + j] += x_i * grad_y[j];
            rough[i * out + j] += fabs(x_i * rough_y[j]);
        }
    }
}

static void forward_layer(double *y, const double *x, const double *w, long in, long out)
{
    for (long j = 0; j < out; j++) y[j] = w[in * out + j];
    for (long i = 0; i < in; i++) {
        for (long j = 0; j < out; j++) y[j] += x[i] * w[i * out + j];
    }
}

/* @return the sum of its squared errors, halved; *scale grows by the terms of its outputs */
static double add_sample(training *t, const float *sample, double *x, long samples, double *scale)
{
    const long layer1 = (t->in + 1) * t->hidden;
    const double *w2 = t->want_params + layer1;
    double loss = 0.0;
    for (long i = 0; i < t->in; i++) x[i] = sample[i];
    forward_layer(t->h, x, t->want_params, t->in, t->hidden);
    for (long i = 0; i < t->hidden; i++) {
        t->nearest = fmin(t->nearest, fabs(t->h[i]));
        if (t->h[i] < 0.0) t->h[i] = 0.0;
    }
    forward_layer(t->grad_y, t->h, w2, t->hidden, t->out);
    for (long j = 0; j < t->out; j++) {
        const double error = t->grad_y[j] - sample[t->in + j];
        double terms = fabs(w2[t->hidden * t->out + j]);
        for (long i = 0; i < t->hidden; i++) terms += fabs(t->h[i] * w2[i * t->out + j]);
        loss += error * error / 2.0;
        *scale += fabs(error) * terms;
        t->grad_y[j] = error / (double)samples;
    }
    for (long i = 0; i < t->hidden; i++) {
        t->grad_h[i] = t->rough_h[i] = 0.0;
        for (long j = 0; j < t->out && t->h[i] > 0.0; j++) {
            t->grad_h[i] += w2[i * t->out + j] * t->grad_y[j];
            t->rough_h[i] += fabs(w2[i * t->out + j] * t->grad_y[j]);
        }
    }
    backward_layer(t->grad + layer1, t->rough + layer1, t->grad_y, t->grad_y, t->h, t->hidden,
                   t->out);
    backward_layer(t->grad, t->rough, t->grad_h, t->rough_h, x, t->in, t->hidden);
    return loss;
}

static void train(training *t)
{
    double *x = f64_array((size_t)t->in);
    t->nearest = INFINITY;
    for (long i = 0; i < t->size; i++) {
        t->want_params[i] = t->params[i];
        t->scale[i] = fmax(1.0, fabs(t->want_params[i]));
    }
    for (long step = 0; step < t->steps; step++) {
        const long first = step * t->batch;
        const long samples = fmin(t->batch, t->count - first);
        double loss = 0.0, scale = 0.0;
        memset(t->grad, 0, (size_t)t->size * sizeof *t->grad);
        memset(t->rough, 0, (size_t)t->size * sizeof *t->rough);
        for (long s = first; s < first + samples; s++)
            loss += add_sample(t, t->samples + s * (t->in + t->out), x, samples, &scale);
        t->want_losses[step] = loss / (double)samples;
        t->loss_scale[step] = fmax(1.0, t->want_losses[step] + scale / (double)samples);
        for (long i = 0; i < t->size; i++) {
            t->want_params[i] -= (double)t->rate * t->grad[i];
            t->scale[i] += (double)t->rate * t->rough[i];
        }
    }
}

/* Weights so that h and y have the size of the inputs, however many there are. */
static void draw(training *t)
{
    const float w1 = 1.0f / sqrtf((float)t->in), w2 = 1.0f / sqrtf((float)t->hidden);
    t->samples = random_f32((size_t)(t->count * (t->in + t->out)));
    t->params = random_f32((size_t)t->size);
    for (long i = 0; i < t->in * t->hidden; i++) t->params[i] *= w1;
    for (long i = 0; i < t->hidden * t->out; i++) t->params[(t->in + 1) * t->hidden + i] *= w2;
}

/* Also what it shall come to. */
static training new_training(const long *shape)
{
    training t = {
        .count = shape[0], .batch = shape[1], .in = shape[2], .hidden = shape[3], .out = shape[4]};
    t.steps = (t.count + t.batch - 1) / t.batch;
    t.size = (t.in + 1) * t.hidden + (t.hidden + 1) * t.out;
    t.rate = random_uniform(case_random(), 0.02f, 0.06f);
    t.losses = f32_array((size_t)t.steps);
    t.want_losses = f64_array((size_t)t.steps);
    t.loss_scale = f64_array((size_t)t.steps);
    t.want_params = f64_array((size_t)t.size);
    t.scale = f64_array((size_t)t.size);
    t.grad = f64_array((size_t)t.size);
    t.rough = f64_array((size_t)t.size);
    t.rough_h = f64_array((size_t)t.hidden);
    t.h = f64_array((size_t)t.hidden);
    t.grad_h = f64_array((size_t)t.hidden);
    t.grad_y = f64_array((size_t)t.out);
    do {
        draw(&t);
        train(&t);
    } while (t.nearest < SAFE_MARGIN);
    return t;
}

/* ---- a call ------------------------------------------------------------------------------------
 */

static void expect_nothing_left(void)
{
    const device_counts *c = call_counts();
    expect(!c || c->freed.bytes >= c->allocated.bytes,
           "it allocated %llu bytes of device memory and freed %llu",
           (unsigned long long)c->allocated.bytes, (unsigned long long)c->freed.bytes);
}

static void run_training(const char *function, const long *shape)
{
    training t = new_training(shape);
    const bool nan = shape[5];
    if (nan) t.want_losses[t.steps - 1] = t.samples[(t.count - 1) * (t.in + t.out)] = NAN;
    const double products = (double)(2 * t.in * t.hidden + 3 * t.hidden * t.out);
    call_counted(function,
                 ARGS(host(out_f32("h_losses", t.losses, (size_t)t.steps)),
                      inout_f32("params", t.params, (size_t)t.size),
                      host(in_f32("h_samples", t.samples, (size_t)(t.count * (t.in + t.out)))),
                      i32((int)t.count), i32((int)t.batch), i32((int)t.in), i32((int)t.hidden),
                      i32((int)t.out), f32(t.rate), stream()));
    expect_close((layout){"h_losses", 1, (size_t)t.steps}, t.losses, t.want_losses, t.loss_scale,
                 TOLERANCE);
    if (!nan) /* else it depends on how ReLU's gradient is written */
        expect_close((layout){"params", 1, (size_t)t.size}, t.params, t.want_params, t.scale,
                     TOLERANCE);
    expect_operations(function, 2.0 * (double)t.count * products);
    expect_nothing_left();
}

/* ---- counters ----------------------------------------------------------------------------------
 */

static double allocations(const device_counts *c)
{
    return (double)c->allocated.count;
}

static double copies_to_host(const device_counts *c)
{
    return (double)c->to_host.count;
}

/* While no kernel runs, a step of the timeline goes by with a copy or a fill. */
static double steps_without_kernel(const device_counts *c)
{
    return (double)c->span - (double)c->launches;
}

/* Also on a GPU. */
static double pageable_copies(void)
{
    const wire_copies c = call_copies();
    return (double)(c.count - c.pinned);
}

/* ---- what is said of the gaps ------------------------------------------------------------------
 */

static const drawn_number numbers[] = {{"count", 150, 400, 1}, {"batch", 9, 25, 1}, {0}};

enum { KERNELS = 17, GAPS = 5 }; /* kernels of a step as it is handed out */

static const struct gap {
    const char *key, *hashed; /* what the GPU waits for */
    const char *what;
    double before;                          /* per step */
    double (*count)(const device_counts *); /* NULL: pageable_copies */
} gaps[GAPS] = {
    {"a", "dfa1ff7ce425", "allocations", 1.0, allocations},
    {"b", "7eb241516fa3", "copies from or to pageable memory", 2.0, NULL},
    {"c", "48673e75159b", "launches of the host", KERNELS, host_launches},
    {"d", "3a08a457c57c", "copies to the host", 1.0, copies_to_host},
    {"e", "08d7cf4b3c12", "kernels", KERNELS, kernel_launches},
};

static bool is_kind(const char *said)
{
    static const char *const kinds[] = {"allocate", "copy", "launch", "pass", "wait"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i], said) == 0) return true;
    }
    return false;
}

static double drawn_steps(void)
{
    return ceil((double)drawn_i64("count") / (double)drawn_i64("batch"));
}

/* The right numbers are not told: a profile shows them, or a pencil.
 * @return what the student predicts of the mended training */
static double expect_diagnosis(const struct gap *g)
{
    char kind[16], more;
    double before, after;
    const char *text = answer_text(g->key);
    expect(sscanf(text, "%15s %lf %lf %c", kind, &before, &after, &more) == 3,
           "`%s = %s` is not a word and two numbers, as in `launch 100 1`", g->key, text);
    expect(is_kind(kind), "`%s = %s`: `%s` is none of the five words", g->key, text, kind);
    expect(is_hashed_answer(g->key, kind, g->hashed),
           "`%s = %s`: it is not that; what does the host do at this time?", g->key, kind);
    expect(before == g->before * drawn_steps(),
           "`%s = %s ...`: as handed out there are not %.0f %s at your sizes", g->key, kind, before,
           g->what);
    return after;
}

static void run(const long *shape)
{
    run_training("train_steps", shape);
    for (const struct gap *g = gaps; g < gaps + GAPS; g++) expect_diagnosis(g);
}

static void expect_refused(long count, long batch, long in, long hidden, long out)
{
    float one = 1.0f, loss = 0.0f;
    call_refused(INVALID_VALUE, "train_steps",
                 ARGS(host(out_f32("h_losses", &loss, 1)), inout_f32("params", &one, 1),
                      host(in_f32("h_samples", &one, 1)), i32((int)count), i32((int)batch),
                      i32((int)in), i32((int)hidden), i32((int)out), f32(0.1f), stream()));
}

static void run_wrong_arguments(const long *shape)
{
    expect_refused(-1, 1, 1, 1, 1);
    expect_refused(0, 0, 1, 1, 1);
    expect_refused(1, -1, 1, 1, 1);
    expect_refused(1, 1, 0, 1, 1);
    expect_refused(1, 1, 1, 0, 1);
    expect_refused(0, 1, 1, 1, 0);
    run(shape);
}

/* With the student's sizes: the predictions against what is counted. */
static void run_drawn(const long *shape)
{
    (void)shape;
    run_training("train_steps", (long[]){drawn_i64("count"), drawn_i64("batch"), 12, 10, 3, false});
    const device_counts *c = call_counts();
    for (const struct gap *g = gaps; g < gaps + GAPS; g++) {
        const double said = expect_diagnosis(g);
        if (!c && g->count) continue;
        const double is = g->count ? g->count(c) : pageable_copies();
        expect(said == is, "`%s`, your sizes: predicted %.0f %s, but there are %.0f", g->key, said,
               g->what, is);
    }
}

/* What is copied in each step is in page-locked memory; the losses may go home once. */
static void run_pinned(const long *shape)
{
    run(shape);
    expect(pageable_copies() <= 1.0, "%.0f copies are from or to pageable memory",
           pageable_copies());
}

/* ---- tables ------------------------------------------------------------------------------------
 */

static const grading_case cases[] = {
    {.name = "100 samples by 16", .run = run, .shape = {100, 16, 7, 9, 3}, .part = "train_steps"},
    {.name = "no samples", .run = run, .shape = {0, 4, 3, 5, 2}},
    {.name = "one step", .run = run, .shape = {20, 20, 3, 5, 2}},
    {.name = "one short step", .run = run, .shape = {13, INT_MAX, 3, 5, 2}},
    {.name = "2 steps", .run = run, .shape = {16, 8, 6, 4, 3}},
    {.name = "3 steps", .run = run, .shape = {24, 8, 6, 4, 3}},
    {.name = "4 steps, the last one short", .run = run, .shape = {25, 8, 6, 4, 3}},
    {.name = "41 steps", .run = run, .shape = {41, 1, 5, 6, 1}},
    {.name = "1x1x1", .run = run, .shape = {9, 4, 1, 1, 1}},
    {.name = "a nan in the last step", .run = run, .shape = {11, 4, 3, 5, 2, true}},
    {.name = "any", .run = run, .shape = {0, 1, 1, 1, 1}, .most = {90, 30, 40, 40, 12}},
    {.name = "wrong arguments", .run = run_wrong_arguments, .shape = {10, 4, 3, 5, 2}},
    LONG_ROW("batch of 70001", run, 70001, 70001, 1, 1, 1),
    LONG_ROW("70001 inputs", run, 2, 2, 70001, 1, 1),
    LONG_ROW("70001 hidden", run, 2, 2, 1, 70001, 1),
    LONG_ROW("70001 outputs", run, 2, 2, 1, 1, 70001),
    GPU_ROW("2000 steps", run, 31999, 16, 64, 64, 8),
    {.name = "your sizes", .run = run_drawn, .once = true},
    {.name = "page-locked memory",
     .run = run_pinned,
     .shape = {100, 10, 5, 6, 2},
     .part = "pinned"},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "as handed out", .shape = "16384 samples by 32, 64 → 64 → 8"},
     .function = "train_steps",
     .baseline = "baseline_train_steps",
     .run = run_training,
     .shape = {1 << 14, 32, 64, 64, 8},
     .from_idle = true,
     .where = ON_GPU,
     .threshold = 1.5},
    {0},
};

#define STEPS 20
#define COUNTED(what, unit, most, plain, counter)                                                  \
    {                                                                                              \
        .metric = {what, .per = unit, .shape = "20 steps"}, .function = "train_steps",             \
        .run = run_training, .shape = {STEPS * 8, 8, 6, 10, 3}, .count = counter,                  \
        .bound = AT_MOST, .wanted = most, .begin = plain                                           \
    }

static const traffic_test traffic[] = {
    COUNTED("allocations", NULL, 8, STEPS, allocations),
    COUNTED("host launches", NULL, 2 * STEPS + 4, KERNELS *STEPS, host_launches),
    COUNTED("kernel launches", NULL, 11 * STEPS + 4, KERNELS *STEPS, kernel_launches),
    COUNTED("copies to the host", NULL, 1, STEPS, copies_to_host),
    COUNTED("steps without a kernel", NULL, 4, 2 * STEPS, steps_without_kernel),
    {0},
};

EXERCISE(514) = {
    .id = 514,
    .name = "close_the_gaps",
    .file = "phase5_full_network/514_close_the_gaps/514_close_the_gaps.cu",
    .parts = {"phase5_full_network/514_close_the_gaps/514_close_the_gaps.answers"},
    .answers = {"a", "b", "c", "d", "e"},
    .drawn = numbers,
    .functions = {"train_steps"},
    .baseline_file = "grader/exercises/514_close_the_gaps/baseline.cu",
    .promises = {{"train_steps", HAS_WAITED}},
    .host_copies = true,
    .points = 5,
    .speed_points = 10,
    .see = "2 steps",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
