/* 314_adam: steps of AdamW and of momentum against the same steps in double; groups with a decay
 * of their own; clipped gradients; the speed of AdamW against a copy on the device, byte for byte.
 * shape, unless it says otherwise: n, first step, how many steps */
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
    suspect("the decay is added to the gradient: that is Adam with L2, not AdamW", wrong);
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
    suspect("the bias correction is that of another step: steps count from 1",
            wrong_steps(1, s, m, v, r, step));
    suspect("eps is inside the root", wrong_steps(2, s, m, v, r, step));
    suspect("the decay is not multiplied by lr", wrong_steps(3, s, m, v, r, step));
    suspect("m and v are those of the step before", wrong_steps(4, s, old_m, old_v, r, step));
    double *move = f64_array(s->n), *decay = f64_array(s->n);
    for (size_t i = 0; i < s->n; i++) {
        decay[i] = -r.lr * (double)r.weight_decay * s->param[i];
        move[i] = wrong_step(5, s->param[i], m[i], v[i], r, step) - s->param[i] - decay[i];
    }
    suspect_term("lr times the step is off", move);
    suspect_term("lr times the decay is off", decay);
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
    const double *mean = not_finite_as_got(want[0], after->m, n);
    if (!is_close(m, after->m, mean, scale[0], FP32_SUM_TOLERANCE)) suspect_mean(before, grad, r);
    expect_close(m, after->m, mean, scale[0], FP32_SUM_TOLERANCE);
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

/* Only what is left of the means moves anything. */
static void run_gradients_end(const long *shape)
{
    state s = later_state((size_t)shape[0]);
    const float *grad = f32_array(s.n);
    for (int step = 7; step <= 8; step++) step_and_check(&s, grad, usual, step, 0);
}

/* A NaN stays where it is, and so does an infinity; in the next step m + (1 - beta1)(g - m) makes
 * a NaN of it, and beta1 m + (1 - beta1) g does not. */
static void run_nan(const long *shape)
{
    state s = later_state((size_t)shape[0]);
    float *grad = random_f32(s.n);
    sprinkle_special_f32(grad, s.n, 3);
    for (int step = 7; step <= 8; step++) step_and_check(&s, grad, usual, step, 0);
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

/* ---- groups ---------------------------------------------------------------------------------- */

/** As in layers.h. */
typedef struct adam_group {
    size_t n;
    float weight_decay;
} adam_group;

/* `count` groups of up to `most` parameters, some of none, of many the first half; every other one
 * does not decay. */
static adam_group *random_groups(int count, int most, size_t *n)
{
    adam_group *groups = array_of(ELEMENT_BYTE, (size_t)count * sizeof *groups);
    const int *sizes = random_i32((size_t)count, 1, most + 1);
    for (int k = 0; k < count; k++) {
        groups[k].n = k % 5 == 3 || (count > 256 && k < count / 2) ? 0 : (size_t)sizes[k];
        groups[k].weight_decay = k % 2 ? 0.0f : 0.1f + 0.01f * (float)(k % 7);
        *n += groups[k].n;
    }
    return groups;
}

static void call_groups(const state *s, const float *grad, const adam_group *groups, int count,
                        rates r, int step, unsigned shift)
{
    call_cuda("adam_update_groups",
              ARGS(shifted(inout_f32("param", s->param, s->n), shift), inout_f32("m", s->m, s->n),
                   inout_f32("v", s->v, s->n), shifted(in_f32("grad", grad, s->n), shift),
                   host(in_bytes("groups", groups, (size_t)count * sizeof *groups)), i32(count),
                   f32(r.lr), f32(r.beta1), f32(r.beta2), f32(r.eps), i32(step), stream()));
}

static state copy_of(const state *s)
{
    state copy = {.n = s->n, .param = f32_array(s->n), .m = f32_array(s->n), .v = f32_array(s->n)};
    const size_t bytes = s->n * sizeof(float);
    if (bytes == 0) return copy;
    memcpy(copy.param, s->param, bytes);
    memcpy(copy.m, s->m, bytes);
    memcpy(copy.v, s->v, bytes);
    return copy;
}

static state part_of(const state *s, size_t begin, size_t n)
{
    return (state){.n = n, .param = s->param + begin, .m = s->m + begin, .v = s->v + begin};
}

/* What would stand there if every parameter decayed by the same. */
static void suspect_one_decay(const state *after, const state *before, const float *grad,
                              const adam_group *groups, int count, rates r, int step)
{
    const double one = 1 - pow(r.beta1, step), two = 1 - pow(r.beta2, step);
    double *first = f64_array(after->n), *none = f64_array(after->n);
    const rates begin = {r.lr, r.beta1, r.beta2, r.eps, groups[0].weight_decay};
    for (size_t i = 0; i < after->n; i++) {
        const double g = grad[i], m = r.beta1 * (double)before->m[i] + (1 - (double)r.beta1) * g;
        const double v = r.beta2 * (double)before->v[i] + (1 - (double)r.beta2) * g * g;
        first[i] = moved(before->param[i], m, v, begin, one, two);
        none[i] = moved(before->param[i], m, v, r, one, two);
    }
    if (count < 2) return;
    suspect("all parameters decay like the first group", first);
    suspect("nothing decays", none);
}

static void expect_groups(const state *after, const state *before, const float *grad,
                          const adam_group *groups, int count, rates r, int step)
{
    double *want = f64_array(after->n), *scale = f64_array(after->n);
    const double one = 1 - pow(r.beta1, step), two = 1 - pow(r.beta2, step);
    size_t i = 0;
    for (int k = 0; k < count; k++) {
        const rates own = {r.lr, r.beta1, r.beta2, r.eps, groups[k].weight_decay};
        for (const size_t end = i + groups[k].n; i < end; i++) {
            const double g = grad[i], p = before->param[i];
            const double m = r.beta1 * (double)before->m[i] + (1 - (double)r.beta1) * g;
            const double v = r.beta2 * (double)before->v[i] + (1 - (double)r.beta2) * g * g;
            want[i] = moved(p, m, v, own, one, two);
            scale[i] = fabs(p) + 50 * r.lr * (fabs(before->m[i]) + fabs(g)) / one / sqrt(v / two);
        }
    }
    const layout l = {"param", 1, after->n};
    if (!is_close(l, after->param, want, scale, FP32_SUM_TOLERANCE))
        suspect_one_decay(after, before, grad, groups, count, r, step);
    expect_close(l, after->param, want, scale, FP32_SUM_TOLERANCE);
}

/* shape: count of groups, their sizes at most, shift */
static void run_groups(const long *shape)
{
    const int count = (int)shape[0], step = 4;
    size_t n = 0, begin = 0;
    const adam_group *groups = random_groups(count, (int)shape[1], &n);
    state s = later_state(n);
    const state before = copy_of(&s);
    const float *grad = random_f32(n);
    call_groups(&s, grad, groups, count, usual, step, (unsigned)shape[2]);
    expect_groups(&s, &before, grad, groups, count, usual, step);
    if (count > 8) return; /* of few groups m and v, too */
    for (int k = 0; k < count; begin += groups[k++].n) {
        const state after = part_of(&s, begin, groups[k].n);
        const state start = part_of(&before, begin, groups[k].n);
        rates own = usual;
        own.weight_decay = groups[k].weight_decay;
        expect_step(&after, &start, grad + begin, own, step);
    }
}

static void run_counted_groups(const char *function, const long *shape)
{
    (void)function;
    run_groups(shape);
}

/* ---- momentum -------------------------------------------------------------------------------- */

typedef struct descent {
    float lr, momentum, weight_decay;
} descent;

static void suspect_velocity(const state *before, const float *grad, descent d, const double *want)
{
    double *undecayed = f64_array(before->n), *damped = f64_array(before->n);
    for (size_t i = 0; i < before->n; i++) {
        undecayed[i] = want[i] - (double)d.weight_decay * before->param[i];
        damped[i] = want[i] - (double)d.momentum * grad[i];
    }
    suspect("the decay is not in the velocity", undecayed);
    suspect("the gradient is multiplied by 1 - momentum, as in Adam", damped);
}

static void suspect_descent(const state *before, descent d)
{
    double *old = f64_array(before->n);
    for (size_t i = 0; i < before->n; i++) old[i] = before->param[i] - (double)d.lr * before->m[i];
    suspect("the step is taken with the velocity of the step before", old);
}

/* One step; the velocity is kept in s->m. */
static void descend(state *s, const float *grad, descent d, unsigned shift)
{
    const size_t n = s->n;
    const state before = copy_of(s);
    double *want[2] = {f64_array(n), f64_array(n)}, *scale[2] = {f64_array(n), f64_array(n)};
    call_cuda("sgd_momentum",
              ARGS(shifted(inout_f32("param", s->param, n), shift),
                   shifted(inout_f32("velocity", s->m, n), shift), in_f32("grad", grad, n), u64(n),
                   f32(d.lr), f32(d.momentum), f32(d.weight_decay), stream()));
    for (size_t i = 0; i < n; i++) {
        const double p = before.param[i], old = d.momentum * (double)before.m[i];
        const double decay = (double)d.weight_decay * p;
        want[0][i] = old + grad[i] + decay;
        scale[0][i] = fabs(old) + fabs(grad[i]) + fabs(decay);
        want[1][i] = p - d.lr * want[0][i];
        scale[1][i] = fabs(p) + d.lr * scale[0][i];
    }
    const layout velocity = {"velocity", 1, n}, param = {"param", 1, n};
    if (!is_close(velocity, s->m, want[0], scale[0], FP32_SUM_TOLERANCE))
        suspect_velocity(&before, grad, d, want[0]);
    expect_close(velocity, s->m, want[0], scale[0], FP32_SUM_TOLERANCE);
    if (!is_close(param, s->param, want[1], scale[1], FP32_SUM_TOLERANCE))
        suspect_descent(&before, d);
    expect_close(param, s->param, want[1], scale[1], FP32_SUM_TOLERANCE);
}

/* shape: n, steps, momentum and decay in hundredths, shift, NaN and infinities */
static void run_descent(const long *shape)
{
    const descent d = {0.1f * (float)(1 + shape[0] % 3), (float)shape[2] / 100.0f,
                       (float)shape[3] / 100.0f};
    state s = later_state((size_t)shape[0]);
    for (int step = 0; step < shape[1]; step++) {
        float *grad = random_f32(s.n);
        sprinkle_special_f32(grad, s.n, (int)shape[5]);
        descend(&s, grad, d, (unsigned)shape[4]);
    }
}

/* ---- clipping -------------------------------------------------------------------------------- */

static double norm_of(const float *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * x[i];
    return sqrt(sum);
}

static void call_clip(float *norm, float *grad, size_t n, float max_norm, unsigned shift)
{
    call_cuda("global_norm_clip",
              ARGS(out_f32("norm", norm, 1), shifted(inout_f32("grad", grad, n), shift), u64(n),
                   f32(max_norm), stream()));
}

/* One call, judged. What is not clipped keeps its bits. */
static void clip(const float *grad, size_t n, float max_norm, unsigned shift)
{
    const double norm = norm_of(grad, n);
    float *clipped = f32_array(n), got = 0.0f;
    double *want = f64_array(n), *scale = f64_array(n);
    if (n > 0) memcpy(clipped, grad, n * sizeof *grad);
    call_clip(&got, clipped, n, max_norm, shift);
    expect_close((layout){"norm", 1, 1}, &got, &(double){(float)norm}, &norm, FP32_SUM_TOLERANCE);
    const bool clips = norm > max_norm && isfinite((float)norm);
    for (size_t i = 0; i < n; i++) {
        want[i] = clips ? grad[i] * ((double)max_norm / norm) : grad[i];
        scale[i] = clips ? fabs(want[i]) : 0.0;
        if (isfinite((float)norm) || isnan(grad[i])) continue;
        expect(clipped[i] == grad[i], "grad[%zu] was %g and is %g, though the norm is %g", i,
               grad[i], clipped[i], got);
    }
    expect_close((layout){"grad", 1, n}, clipped, want, scale, FP32_SUM_TOLERANCE);
}

/* shape: n, max_norm in thousandths of the norm, exponent of ten of the gradients, shift */
static void run_clip(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *grad = random_f32(n);
    const float size = powf(10.0f, (float)shape[2]);
    for (size_t i = 0; i < n; i++) grad[i] *= size;
    clip(grad, n, (float)(norm_of(grad, n) * (double)shape[1] / 1000.0), (unsigned)shape[3]);
}

/* 3, 4 and zeros have the norm 5: what is not larger than max_norm stays. */
static void run_clip_equal(const long *shape)
{
    float *grad = f32_array((size_t)shape[0]);
    grad[0] = 3.0f, grad[shape[0] - 1] = -4.0f;
    clip(grad, (size_t)shape[0], 5.0f, 0);
    clip(grad, (size_t)shape[0], 2.5f, 0);
}

static void run_clip_zeros(const long *shape)
{
    clip(f32_array((size_t)shape[0]), (size_t)shape[0], 0.0f, 0);
}

/* One of them is not finite; then four whose norm is none that a float holds. */
static void run_clip_not_finite(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f};
    for (int k = 0; k < 4; k++) {
        float *grad = random_f32(n);
        sprinkle_f32(grad, n, bad[k], k == 3 ? 40 : 1);
        clip(grad, n, 1.0f, 0);
    }
}

static void run_clip_same_bits(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *grad = random_f32(n);
    float first = 0.0f, *clipped = f32_array(n);
    for (int i = 0; i < 5; i++) {
        float norm = 0.0f;
        memcpy(clipped, grad, n * sizeof *grad);
        call_clip(&norm, clipped, n, 1.0f, 0);
        if (i == 0) first = norm;
        expect(norm == first,
               "the norm was %.9g and is %.9g for the same gradients: the order of additions "
               "changes",
               first, norm);
    }
}

static void run_counted_clip(const char *function, const long *shape)
{
    (void)function;
    run_clip(shape);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const grading_case cases[] = {
    {.name = "n=0", .run = run_steps, .shape = {0, 1, 1}},
    {.name = "n=1", .run = run_steps, .shape = {1, 1, 3}},
    {.name = "n=255", .run = run_steps, .shape = {255, 1, 1}},
    {.name = "n=257", .run = run_steps, .shape = {257, 1, 1}},
    {.name = "n=1024", .run = run_steps, .shape = {1024, 5, 1}},
    {.name = "any_n", .run = run_steps, .shape = {2, 1, 1}, .most = {9000}},
    {.name = "n=1000003", .run = run_steps, .shape = {1000003, 7, 1}, .once = true},
    {.name = "first_step", .run = run_first_step, .shape = {1021}},
    {.name = "ten_steps", .run = run_steps, .shape = {1021, 1, 10}},
    {.name = "step_1000000", .run = run_steps, .shape = {1021, 1000000, 1}},
    {.name = "zero_gradients", .run = run_zero_gradients, .shape = {515}},
    {.name = "gradients_end", .run = run_gradients_end, .shape = {515}},
    {.name = "nan", .run = run_nan, .shape = {515}},
    {.name = "tiny_gradients", .run = run_tiny_gradients, .shape = {515}},
    {.name = "weight_decay", .run = run_weight_decay, .shape = {1021}},
    {.name = "other_betas", .run = run_other_betas, .shape = {1021}},
    {.name = "misaligned", .run = run_misaligned, .shape = {1021}},
    {.name = "groups: none", .run = run_groups, .shape = {0, 1}, .part = "adam_update_groups"},
    {.name = "groups: one", .run = run_groups, .shape = {1, 700}},
    {.name = "groups: seven", .run = run_groups, .shape = {7, 900}},
    {.name = "groups: 301", .run = run_groups, .shape = {301, 40}},
    {.name = "groups: any", .run = run_groups, .shape = {1, 1}, .most = {300, 50}},
    {.name = "groups: misaligned", .run = run_groups, .shape = {5, 300, 4}},
    {.name = "groups: 70000 parameters", .run = run_groups, .shape = {2, 70000}, .once = true},
    {.name = "sgd n=0", .run = run_descent, .shape = {0, 1, 90, 0}, .part = "sgd_momentum"},
    {.name = "sgd n=1", .run = run_descent, .shape = {1, 3, 90, 0}},
    {.name = "sgd n=1021", .run = run_descent, .shape = {1021, 3, 90, 0}},
    {.name = "sgd without momentum", .run = run_descent, .shape = {515, 2, 0, 0}},
    {.name = "sgd with decay", .run = run_descent, .shape = {515, 2, 90, 30}},
    {.name = "sgd with NaN", .run = run_descent, .shape = {515, 2, 50, 10, 0, 3}},
    {.name = "sgd, misaligned", .run = run_descent, .shape = {515, 1, 90, 10, 4}},
    {.name = "sgd n=70001", .run = run_descent, .shape = {70001, 1, 90, 10}, .once = true},
    {.name = "clip n=0", .run = run_clip, .shape = {0, 500}, .part = "global_norm_clip"},
    {.name = "clip n=1", .run = run_clip, .shape = {1, 500}},
    {.name = "clip n=255", .run = run_clip, .shape = {255, 500}},
    {.name = "clip n=1021", .run = run_clip, .shape = {1021, 100}},
    {.name = "clip n=70001", .run = run_clip, .shape = {70001, 999}},
    {.name = "clip any", .run = run_clip, .shape = {2, 1}, .most = {9000, 2000}},
    {.name = "clip below the bound", .run = run_clip, .shape = {1021, 1001}},
    {.name = "clip at the bound", .run = run_clip_equal, .shape = {1021}},
    {.name = "clip to nothing", .run = run_clip, .shape = {515, 0}},
    {.name = "clip zeros", .run = run_clip_zeros, .shape = {515}},
    {.name = "clip gradients of 1e25", .run = run_clip, .shape = {515, 500, 25}},
    {.name = "clip gradients of 1e-25", .run = run_clip, .shape = {515, 500, -25}},
    {.name = "clip what is not finite", .run = run_clip_not_finite, .shape = {515}},
    {.name = "clip, misaligned", .run = run_clip, .shape = {515, 500, 0, 4}},
    {.name = "clip, the same bits every time", .run = run_clip_same_bits, .shape = {70001}},
    {.name = "n=16777259",
     .run = run_steps,
     .shape = {16777259, 2, 1},
     .where = ON_GPU,
     .once = true,
     .part = "adam_update"},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "2^24 parameters"},
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
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^16 parameters"},
     .function = "adam_update",
     .run = run_timed,
     .shape = {1 << 16},
     .count = moved_bytes,
     .ideal = (double)BYTES_MOVED * (1 << 16),
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 1.429},
    {.metric = {"kernel launches", .shape = "40 groups"},
     .function = "adam_update_groups",
     .run = run_counted_groups,
     .shape = {40, 100},
     .count = kernel_launches,
     .bound = AT_MOST,
     .wanted = 2,
     .begin = 32},
    {.metric = {"DRAM bytes", .relative_to = "bytes of the gradient",
                .shape = "2^16 floats, not clipped"},
     .function = "global_norm_clip",
     .run = run_counted_clip,
     .shape = {1 << 16, 1001},
     .count = moved_bytes,
     .ideal = 4.0 * (1 << 16),
     .bound = AT_MOST,
     .wanted = 1.5,
     .begin = 3.019},
    {.metric = {"instructions", .per = "warp", .shape = "2^20 parameters"},
     .function = "adam_update",
     .run = run_timed,
     .shape = {1 << 20},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 4000},
    {0},
};

EXERCISE(314) = {
    .id = 314,
    .core = true,
    .name = "adam",
    .file = "phase3_layers/314_adam/314_adam.cu",
    .functions = {"adam_update", "sgd_momentum", "global_norm_clip", "adam_update_groups"},
    .baseline_file = "grader/exercises/314_adam/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "n=257",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
