/* 314_adam.c: steps of AdamW against the same steps in double; its speed against a copy on the
 * device, byte for byte. shape: n, first step, how many steps */
#include "correctness/case.h"

#include <math.h>
#include <string.h>

#define BYTES_MOVED  28     /* per parameter: param, m, v, grad in; param, m, v out */
#define SAMPLES      100000 /* elements of a timed call that are checked */
#define BYTES_COPIED 24     /* per parameter by the baseline: three copies */

typedef struct rates {
    float lr, beta1, beta2, eps, weight_decay;
} rates;

static const rates usual = {1e-2f, 0.9f, 0.999f, 1e-8f, 0.0f};

typedef struct state {
    size_t n;
    float *param, *m, *v; /* [n], updated by the student */
} state;

static state first_state(size_t n)
{
    state s = {.n = n, .param = random_f32(n), .m = f32_array(n), .v = f32_array(n)};
    return s;
}

/* In the middle of a training run: means that are not 0. */
static state later_state(size_t n)
{
    state s = {.n = n, .param = random_f32(n), .m = random_f32(n)};
    s.v = random_f32_between(n, 0.1f, 2.0f);
    return s;
}

static void call(const char *function, const state *s, const float *grad, rates r, int step,
                 unsigned shift)
{
    call_cuda(function, ARGS(shifted(inout_f32("param", s->param, s->n), shift),
                             inout_f32("m", s->m, s->n), shifted(inout_f32("v", s->v, s->n), shift),
                             in_f32("grad", grad, s->n), u64(s->n), f32(r.lr), f32(r.beta1),
                             f32(r.beta2), f32(r.eps), f32(r.weight_decay), i32(step), stream()));
}

/* A parameter after one step, where the means are already those after it. */
static double moved(double p, double m, double v, rates r, double correction1, double correction2)
{
    return p - r.lr * (m / correction1 / (sqrt(v / correction2) + r.eps) + r.weight_decay * p);
}

static void suspect_mean(const state *before, const float *grad, rates r)
{
    double *wrong = f64_array(before->n);
    if (!(r.weight_decay > 0)) return;
    for (size_t i = 0; i < before->n; i++) {
        const double g = grad[i] + (double)r.weight_decay * before->param[i];
        wrong[i] = (double)r.beta1 * before->m[i] + (1 - (double)r.beta1) * g;
    }
    suspect("the decay is in the gradient: Adam with L2, not AdamW", wrong);
}

/* Wrong parameters are numbered in the order of their formulas. m and v: after the step. */
static double wrong_step(int which, double p, double m, double v, rates r, int step)
{
    const double one = 1 - pow(r.beta1, step), two = 1 - pow(r.beta2, step);
    switch (which) {
    case 0: return moved(p, m, v, r, 1.0, 1.0);
    case 1: return moved(p, m, v, r, 1 - pow(r.beta1, step + 1), 1 - pow(r.beta2, step + 1));
    case 2: return p - r.lr * (m / one / sqrt(v / two + r.eps) + r.weight_decay * p);
    case 3: return moved(p, m, v, r, one, two) - (1 - r.lr) * r.weight_decay * p;
    default: return moved(p, m, v, r, one, two);
    }
}

static double *wrong_steps(int which, const state *before, const double *m, const double *v,
                           rates r, int step)
{
    double *wrong = f64_array(before->n);
    for (size_t i = 0; i < before->n; i++) {
        wrong[i] = wrong_step(which, before->param[i], m[i], v[i], r, step);
    }
    return wrong;
}

static void suspect_step(const state *s, const double *m, const double *v, rates r, int step)
{
    double *old_m = f64_array(s->n), *old_v = f64_array(s->n);
    for (size_t i = 0; i < s->n; i++) old_m[i] = s->m[i], old_v[i] = s->v[i];
    suspect("bias correction is missing", wrong_steps(0, s, m, v, r, step));
    suspect("bias correction of another step: they count from 1", wrong_steps(1, s, m, v, r, step));
    suspect("epsilon is inside of the root", wrong_steps(2, s, m, v, r, step));
    suspect("the decay is not multiplied with lr", wrong_steps(3, s, m, v, r, step));
    suspect("m and v are those of the step before", wrong_steps(4, s, old_m, old_v, r, step));
}

/* What the step should make of *before, element by element, and how far off it may be: rounding to
 * float of what is there, and a little more of what is added. */
static void expect_step(const state *after, const state *before, const float *grad, rates r,
                        int step)
{
    const size_t n = after->n;
    const double beta1 = r.beta1, beta2 = r.beta2;
    const double correction1 = 1 - pow(beta1, step), correction2 = 1 - pow(beta2, step);
    double *want[3], *scale[3];
    for (int i = 0; i < 3; i++) want[i] = f64_array(n), scale[i] = f64_array(n);
    for (size_t i = 0; i < n; i++) {
        const double g = grad[i], p = before->param[i], m = before->m[i], v = before->v[i];
        want[0][i] = beta1 * m + (1 - beta1) * g;
        scale[0][i] = fabs(beta1 * m) + fabs((1 - beta1) * g);
        want[1][i] = scale[1][i] = beta2 * v + (1 - beta2) * g * g;
        const double mean = want[0][i] / correction1;
        const double square = want[1][i] / correction2;
        const double move = r.lr * mean / (sqrt(square) + r.eps), decay = r.lr * r.weight_decay * p;
        want[2][i] = p - move - decay;
        const double cancelled = scale[0][i] / (fabs(want[0][i]) + 1e-30); /* in the mean */
        scale[2][i] = fabs(p) + fabs(decay) + fabs(move) * (50 + cancelled);
    }
    const layout m = {"m", 1, n}, v = {"v", 1, n}, param = {"param", 1, n};
    if (!is_close(m, after->m, want[0], scale[0], FP32_SUM_TOLERANCE))
        suspect_mean(before, grad, r);
    expect_close(m, after->m, want[0], scale[0], FP32_SUM_TOLERANCE);
    expect_close(v, after->v, want[1], scale[1], FP32_SUM_TOLERANCE);
    if (!is_close(param, after->param, want[2], scale[2], FP32_SUM_TOLERANCE)) {
        suspect_step(before, want[0], want[1], r, step);
    }
    expect_close(param, after->param, want[2], scale[2], FP32_SUM_TOLERANCE);
}

static void step_and_check(state *s, const float *grad, rates r, int step, unsigned shift)
{
    const size_t bytes = s->n * sizeof(float);
    state before = first_state(s->n);
    if (bytes > 0) {
        memcpy(before.param, s->param, bytes);
        memcpy(before.m, s->m, bytes);
        memcpy(before.v, s->v, bytes);
    }
    call("adam_update", s, grad, r, step, shift);
    expect_step(s, &before, grad, r, step);
}

static void run_steps(const long *shape)
{
    state s = shape[1] == 1 ? first_state((size_t)shape[0]) : later_state((size_t)shape[0]);
    for (int i = 0; i < shape[2]; i++) {
        step_and_check(&s, random_f32(s.n), usual, (int)shape[1] + i, 0);
    }
}

/* Whatever the size of the gradient, the first step is lr in its direction. */
static void run_first_step(const long *shape)
{
    const size_t n = (size_t)shape[0];
    state s = {.n = n, .param = f32_array(n), .m = f32_array(n), .v = f32_array(n)};
    float *grad = random_f32(n);
    for (size_t i = 0; i < n; i++) grad[i] = copysignf(powf(10.0f, (float)(i % 7) - 3), grad[i]);
    const state zeros = {.n = n, .param = f32_array(n), .m = f32_array(n), .v = f32_array(n)};
    call("adam_update", &s, grad, usual, 1, 0);
    expect_step(&s, &zeros, grad, usual, 1);
    for (size_t i = 0; i < n; i++) {
        const double want = -copysign(usual.lr, grad[i]);
        expect(
            fabs(s.param[i] - want) <= 1e-4 * usual.lr,
            "the first step with gradient %g moves param[%zu] by %.6g, should be %.6g, lr itself",
            grad[i], i, s.param[i], want);
    }
}

/* Where no gradient ever came nothing moves, and 0 / 0 is not computed. */
static void run_zero_gradients(const long *shape)
{
    state s = first_state((size_t)shape[0]);
    const float *grad = f32_array(s.n);
    for (int step = 1; step <= 2; step++) step_and_check(&s, grad, usual, step, 0);
}

/* Gradients of the size of epsilon: where it is added matters. */
static void run_tiny_gradients(const long *shape)
{
    const size_t n = (size_t)shape[0];
    state s = {.n = n, .param = f32_array(n), .m = f32_array(n), .v = f32_array(n)};
    const rates r = {1e-2f, 0.9f, 0.999f, 1e-5f, 0.0f};
    const float *grad = random_f32_between(n, 1e-5f, 1e-3f);
    step_and_check(&s, grad, r, 1, 0);
}

static void run_weight_decay(const long *shape)
{
    state s = later_state((size_t)shape[0]);
    const rates r = {1e-2f, 0.9f, 0.999f, 1e-8f, 0.3f};
    for (int step = 5; step <= 6; step++) {
        step_and_check(&s, random_f32(s.n), r, step, 0);
    }
}

static void run_other_betas(const long *shape)
{
    state s = later_state((size_t)shape[0]);
    const rates r = {3e-3f, 0.5f, 0.75f, 1e-3f, 0.01f};
    step_and_check(&s, random_f32(s.n), r, 3, 0);
}

static void run_misaligned(const long *shape)
{
    state s = later_state((size_t)shape[0]);
    step_and_check(&s, random_f32(s.n), usual, 4, 4);
}

static state sample_of(const state *s, const int *which)
{
    state some = {.n = SAMPLES};
    some.param = f32_array(SAMPLES), some.m = f32_array(SAMPLES), some.v = f32_array(SAMPLES);
    for (int i = 0; i < SAMPLES; i++) {
        some.param[i] = s->param[which[i]];
        some.m[i] = s->m[which[i]];
        some.v[i] = s->v[which[i]];
    }
    return some;
}

/* The baseline copies; what it leaves is no step of Adam. */
static void run_timed(const char *function, const long *shape)
{
    const state s = later_state((size_t)shape[0]);
    const float *grad = random_f32(s.n);
    const int *which = random_i32(SAMPLES, 0, (int)s.n);
    const state before = sample_of(&s, which);
    float *sampled_grad = f32_array(SAMPLES);
    for (int i = 0; i < SAMPLES; i++) sampled_grad[i] = grad[which[i]];
    call(function, &s, grad, usual, 3, 0);
    const state after = sample_of(&s, which);
    if (strcmp(function, "adam_update") == 0) expect_step(&after, &before, sampled_grad, usual, 3);
}

static const grading_case cases[] = {
    {.name = "n=0", .run = run_steps, .shape = {0, 1, 1}},
    {.name = "n=1", .run = run_steps, .shape = {1, 1, 3}},
    {.name = "n=255", .run = run_steps, .shape = {255, 1, 1}},
    {.name = "n=257", .run = run_steps, .shape = {257, 1, 1}},
    {.name = "n=1000003", .run = run_steps, .shape = {1000003, 7, 1}, .once = true},
    {.name = "first_step", .run = run_first_step, .shape = {1021}},
    {.name = "ten_steps", .run = run_steps, .shape = {1021, 1, 10}},
    {.name = "step_1000000", .run = run_steps, .shape = {1021, 1000000, 1}},
    {.name = "zero_gradients", .run = run_zero_gradients, .shape = {515}},
    {.name = "tiny_gradients", .run = run_tiny_gradients, .shape = {515}},
    {.name = "weight_decay", .run = run_weight_decay, .shape = {1021}},
    {.name = "other_betas", .run = run_other_betas, .shape = {1021}},
    {.name = "misaligned", .run = run_misaligned, .shape = {1021}},
    {.name = "n=16777259",
     .run = run_steps,
     .shape = {16777259, 2, 1},
     .where = ON_GPU,
     .once = true},
    {0},
};

static const speed_test speed[] = {
    {.metric = "of the bandwidth of a copy on the device, 2^24 parameters",
     .function = "adam_update",
     .baseline = "baseline_adam_update",
     .run = run_timed,
     .shape = {1 << 24},
     .where = ON_GPU,
     .threshold = 0.80,
     .work = BYTES_MOVED,
     .baseline_work = BYTES_COPIED,
     .bytes = (double)BYTES_MOVED * (1 << 24),
     .peer_share = 0.88,
     .peer_bytes = (double)BYTES_COPIED * (1 << 24)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = "bytes moved, of those that must be, 2^16 parameters",
     .function = "adam_update",
     .run = run_timed,
     .shape = {1 << 16},
     .count = moved_bytes,
     .ideal = (double)BYTES_MOVED * (1 << 16),
     .bound = AT_MOST,
     .wanted = 1.1},
    {0},
};

EXERCISE(314) = {
    .id = 314,
    .name = "adam",
    .file = "phase3_layers/314_adam.cu",
    .functions = {"adam_update"},
    .baseline_file = "grader/exercises/314_adam/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
