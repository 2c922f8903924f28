/* 309_batchnorm: inference, training, gradients and folding of batch normalization; means far
 * from 0, a single element, gradients against central differences and the adjoint identity; speed
 * against a copy and against a thread a channel. shape: batch, channels, h, w */
#include "exercises/shared/layer_cases.h"

#include <math.h>
#include <string.h>

#define SAMPLES 16 /* coordinates that are moved */

static float eps = 1e-5f, momentum = 0.1f; /* of the case: not always the usual ones */

static void set_parameters(long channels)
{
    eps = channels % 2 ? 1e-5f : 1e-3f;
    momentum = channels % 3 ? 0.1f : 0.3f;
}

typedef struct norm {
    long batch, channels, pixels;
    size_t size, n; /* elements of x, elements of a channel */
} norm;

static norm norm_of(const long *s)
{
    const norm d = {s[0], s[1], s[2] * s[3], (size_t)(s[0] * s[1] * s[2] * s[3]),
                    (size_t)(s[0] * s[2] * s[3])};
    return d;
}

#define SIZES(shape)                                                                               \
    i32((int)(shape)[0]), i32((int)(shape)[1]), i32((int)(shape)[2]), i32((int)(shape)[3])

static layout planes_of(const char *name, const norm *d)
{
    return (layout){name, (size_t)(d->batch * d->channels), (size_t)d->pixels};
}

static layout channels_of(const char *name, const norm *d)
{
    return (layout){name, 1, (size_t)d->channels};
}

/* Where element i of channel c lies. */
static size_t element(const norm *d, long c, size_t i)
{
    const size_t pixels = (size_t)d->pixels;
    return (i / pixels * (size_t)d->channels + (size_t)c) * pixels + i % pixels;
}

static long channel_of(const norm *d, size_t at)
{
    return (long)(at / (size_t)d->pixels) % d->channels;
}

static bool is_baseline(const char *function)
{
    return strncmp(function, "baseline_", 9) == 0; /* ours, and believed */
}

/* shape[4]: how many NaN are among them. What becomes of an infinity depends on the order of sums.
 */
static float *random_values(const long *shape)
{
    const size_t size = norm_of(shape).size;
    float *x = random_f32(size);
    sprinkle_f32(x, size, NAN, (int)shape[4]);
    return x;
}

/* ---- inference and folding ------------------------------------------------------------------- */

static double deviation_and_eps(double var)
{
    return sqrt(var) + eps;
}

static double *infer_wrongly(const norm *d, const float *x, const statistics *s,
                             double (*deviation)(double var))
{
    double *wrong = f64_array(d->size);
    for (size_t i = 0; i < d->size; i++) {
        const long c = channel_of(d, i);
        wrong[i] = ((double)x[i] - s->mean[c]) / deviation(s->var[c]) * s->gamma[c] + s->beta[c];
    }
    return wrong;
}

static void infer(const char *function, const long *shape, bool in_place)
{
    set_parameters(shape[1]);
    const norm d = norm_of(shape);
    const size_t channels = (size_t)d.channels;
    const statistics s = random_statistics(channels);
    float *x = random_values(shape), *y = f32_array(d.size);
    double *want = f64_array(d.size), *scale = f64_array(d.size);
    if (channels > 1) s.var[channels - 1] = 0.0f; /* of a filter that never answered */
    for (size_t i = 0; i < d.size && !is_baseline(function); i++) {
        const long c = channel_of(&d, i);
        const double factor = s.gamma[c] / sqrt((double)s.var[c] + eps);
        want[i] = ((double)x[i] - s.mean[c]) * factor + s.beta[c];
        scale[i] = (fabs(x[i]) + fabs(s.mean[c])) * fabs(factor) + fabs(s.beta[c]);
    }
    memcpy(y, x, d.size * sizeof *y);
    if (in_place)
        call_cuda(function, ARGS(inout_f32("y", y, d.size), same_as(0), STATISTICS(s, channels),
                                 SIZES(shape), f32(eps), stream()));
    else
        call_cuda(function, ARGS(out_f32("y", y, d.size), in_f32("x", x, d.size),
                                 STATISTICS(s, channels), SIZES(shape), f32(eps), stream()));
    if (is_baseline(function)) return;
    if (!is_close(planes_of("y", &d), y, want, scale, FP32_SUM_TOLERANCE)) {
        suspect("eps is left out", infer_wrongly(&d, x, &s, sqrt));
        suspect("eps is added to the deviation, not to the variance",
                infer_wrongly(&d, x, &s, deviation_and_eps));
    }
    expect_close(planes_of("y", &d), y, want, scale, FP32_SUM_TOLERANCE);
}

static void run_infer(const long *shape)
{
    infer("batchnorm_infer", shape, false);
}

static void run_infer_in_place(const long *shape)
{
    infer("batchnorm_infer", shape, true);
}

/* The folded filters applied to random windows, against filter and normalization in double.
 * shape: channels, filter_size, with a bias */
static void run_fold(const long *shape)
{
    set_parameters(shape[0]);
    const size_t channels = (size_t)shape[0], taps = (size_t)shape[1], size = channels * taps;
    const statistics s = random_statistics(channels);
    const float *w = random_f32(size), *bias = shape[2] ? random_f32(channels) : NULL;
    const float *window = random_f32(taps);
    float *folded = f32_array(size), *folded_bias = f32_array(channels);
    call_cuda("batchnorm_fold",
              ARGS(out_f32("folded_w", folded, size), out_f32("folded_bias", folded_bias, channels),
                   in_f32("w", w, size), bias ? in_f32("bias", bias, channels) : null_pointer(),
                   STATISTICS(s, channels), i32((int)channels), i32((int)taps), f32(eps),
                   stream()));
    for (size_t c = 0; c < channels; c++) {
        double got = folded_bias[c], conv = bias ? bias[c] : 0.0, scale = fabs(got) + fabs(conv);
        const double factor = s.gamma[c] / sqrt((double)s.var[c] + eps);
        for (size_t i = 0; i < taps; i++) {
            got += (double)folded[c * taps + i] * window[i];
            conv += (double)w[c * taps + i] * window[i];
            scale += fabs((double)w[c * taps + i] * window[i] * factor);
        }
        const double want = (conv - s.mean[c]) * factor + s.beta[c];
        scale += fabs(s.mean[c] * factor) + fabs(s.beta[c]);
        expect(fabs(got - want) <= FP32_SUM_TOLERANCE * scale,
               "filter %zu, folded, gives %.9g on a random window, should be %.9g", c, got, want);
    }
}

/* ---- training -------------------------------------------------------------------------------- */

static void moments(const norm *d, long c, const float *x, double *mean, double *var)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < d->n; i++) sum += x[element(d, c, i)];
    *mean = sum / (double)d->n;
    for (size_t i = 0; i < d->n; i++) {
        const double distance = x[element(d, c, i)] - *mean;
        squares += distance * distance;
    }
    *var = squares / (double)d->n;
}

typedef struct trained {
    float *y, *mean, *rstd, *running_mean, *running_var;
} trained;

static trained call_forward(const char *function, const float *x, const float *gamma,
                            const float *beta, const trained *before, const long *shape)
{
    const norm d = norm_of(shape);
    const size_t c = (size_t)d.channels;
    trained t = {f32_array(d.size), f32_array(c), f32_array(c), f32_array(c), f32_array(c)};
    memcpy(t.running_mean, before->running_mean, c * sizeof(float));
    memcpy(t.running_var, before->running_var, c * sizeof(float));
    call_cuda(function,
              ARGS(out_f32("y", t.y, d.size), out_f32("mean", t.mean, c),
                   out_f32("rstd", t.rstd, c), inout_f32("running_mean", t.running_mean, c),
                   inout_f32("running_var", t.running_var, c), in_f32("x", x, d.size),
                   in_f32("gamma", gamma, c), in_f32("beta", beta, c), SIZES(shape), f32(eps),
                   f32(momentum), stream()));
    return t;
}

/* What a statistic of every channel should be, and what it is where a mistake was made. */
typedef double channel_value(double old, double mean, double var, double n);

static double right_rstd(double old, double mean, double var, double n)
{
    (void)old, (void)mean, (void)n;
    return 1.0 / sqrt(var + eps);
}

static double rstd_eps_outside(double old, double mean, double var, double n)
{
    (void)old, (void)mean, (void)n;
    return 1.0 / (sqrt(var) + eps);
}

static double rstd_without_eps(double old, double mean, double var, double n)
{
    (void)old, (void)mean, (void)n;
    return 1.0 / sqrt(var);
}

static double unbiased(double var, double n)
{
    return var * n / (n > 1 ? n - 1 : 1);
}

static double rstd_unbiased(double old, double mean, double var, double n)
{
    return right_rstd(old, mean, unbiased(var, n), n);
}

static double right_running_mean(double old, double mean, double var, double n)
{
    (void)var, (void)n;
    return old + momentum * (mean - old);
}

static double old_part(double old, double mean, double var, double n)
{
    (void)mean, (void)var, (void)n;
    return -momentum * old;
}

static double momentum_of_old_mean(double old, double mean, double var, double n)
{
    (void)var, (void)n;
    return mean + momentum * (old - mean);
}

static double right_running_var(double old, double mean, double var, double n)
{
    (void)mean;
    return old + momentum * (unbiased(var, n) - old);
}

static double biased_running_var(double old, double mean, double var, double n)
{
    (void)mean, (void)n;
    return old + momentum * (var - old);
}

typedef struct statistics_of {
    const norm *d;
    const double *mean, *var; /* [channels], as they should be */
} statistics_of;

static double *each_channel(const statistics_of *s, channel_value *value, const float *old)
{
    double *values = f64_array((size_t)s->d->channels);
    for (long c = 0; c < s->d->channels; c++)
        values[c] = value(old ? old[c] : 0.0, s->mean[c], s->var[c], (double)s->d->n);
    return values;
}

/* As it is, where rounding of the squares explains that. */
static double *rstd_of_cancelled(const statistics_of *s, const float *rstd)
{
    double *values = each_channel(s, right_rstd, NULL);
    for (long c = 0; c < s->d->channels; c++) {
        const double var = 1.0 / ((double)rstd[c] * rstd[c]) - eps, mean = s->mean[c];
        if (!(fabs(var - s->var[c]) > 1e-6 * mean * mean)) values[c] = rstd[c];
    }
    return values;
}

static void suspect_rstd(const statistics_of *s, const float *rstd)
{
    suspect("E[x^2] - E[x]^2 cancels where the mean is large: take the mean of (x - mean)^2",
            rstd_of_cancelled(s, rstd));
    suspect("eps is added to the deviation, not to the variance",
            each_channel(s, rstd_eps_outside, NULL));
    suspect("eps is left out", each_channel(s, rstd_without_eps, NULL));
    suspect("the variance is divided by n - 1 here: that is for running_var alone",
            each_channel(s, rstd_unbiased, NULL));
}

static void expect_statistics(const trained *t, const trained *before, const statistics_of *s)
{
    const norm *d = s->d;
    const double drift = 1.0 + sqrt((double)d->n) / 64; /* of a sum of many terms, one by one */
    double *rstd = each_channel(s, right_rstd, NULL);
    const double *mean = each_channel(s, right_running_mean, before->running_mean);
    double *var = each_channel(s, right_running_var, before->running_var);
    double *scale[4];
    for (int i = 0; i < 4; i++) scale[i] = f64_array((size_t)d->channels);
    for (long c = 0; c < d->channels; c++) {
        const double reach = fabs(s->mean[c]) + sqrt(s->var[c]);
        scale[0][c] = drift * reach + 1e-3;
        scale[1][c] = rstd[c] * (drift + 0.01 * reach * rstd[c]);
        scale[2][c] = fabs(before->running_mean[c]) + drift * reach;
        scale[3][c] =
            before->running_var[c] + drift * unbiased(s->var[c], (double)d->n) + 0.01 * reach;
        if (!isnan(s->mean[c])) continue;
        rstd[c] = t->rstd[c], var[c] = t->running_var[c]; /* what max(var, 0) made of it, too */
        scale[1][c] = scale[3][c] = 1.0;
    }
    expect_close(channels_of("mean", d), t->mean, s->mean, scale[0], FP32_NORM_TOLERANCE);
    if (!is_close(channels_of("rstd", d), t->rstd, rstd, scale[1], FP32_NORM_TOLERANCE))
        suspect_rstd(s, t->rstd);
    expect_close(channels_of("rstd", d), t->rstd, rstd, scale[1], FP32_NORM_TOLERANCE);
    if (!is_close(channels_of("", d), t->running_mean, mean, scale[2], FP32_NORM_TOLERANCE)) {
        suspect("momentum weights the old value: it should weight the new one",
                each_channel(s, momentum_of_old_mean, before->running_mean));
        suspect_term("the term - momentum * old is off",
                     each_channel(s, old_part, before->running_mean));
    }
    expect_close(channels_of("running_mean", d), t->running_mean, mean, scale[2],
                 FP32_NORM_TOLERANCE);
    if (!is_close(channels_of("", d), t->running_var, var, scale[3], FP32_NORM_TOLERANCE))
        suspect("running_var takes the variance divided by n: it must be divided by n - 1",
                each_channel(s, biased_running_var, before->running_var));
    expect_close(channels_of("running_var", d), t->running_var, var, scale[3], FP32_NORM_TOLERANCE);
}

static void forward(const char *function, const float *x, const long *shape)
{
    set_parameters(shape[1]);
    const norm d = norm_of(shape);
    const size_t channels = (size_t)d.channels;
    const float *gamma = random_f32_between(channels, -2.0f, 2.0f), *beta = random_f32(channels);
    const trained before = {.running_mean = random_f32(channels),
                            .running_var = random_f32_between(channels, 0.1f, 2.0f)};
    const trained t = call_forward(function, x, gamma, beta, &before, shape);
    double *want = f64_array(d.size), *scale = f64_array(d.size);
    double *means = f64_array(channels), *vars = f64_array(channels), *no_gamma = f64_array(d.size);
    for (long c = 0; c < d.channels && !is_baseline(function); c++) {
        moments(&d, c, x, &means[c], &vars[c]);
        const double mean = means[c], var = vars[c], drift = 1.0 + sqrt((double)d.n) / 64;
        const double factor = gamma[c] / sqrt(var + eps);
        for (size_t i = 0; i < d.n; i++) {
            const size_t at = element(&d, c, i);
            want[at] = (x[at] - mean) * factor + beta[c];
            no_gamma[at] = (x[at] - mean) / sqrt(var + eps) + beta[c];
            scale[at] =
                (fabs(x[at]) + drift * (fabs(mean) + sqrt(var))) * fabs(factor) + fabs(beta[c]);
        }
    }
    if (is_baseline(function)) return;
    expect_statistics(&t, &before, &(statistics_of){&d, means, vars});
    suspect("gamma is left out", no_gamma);
    expect_close(planes_of("y", &d), t.y, want, scale, 2 * FP32_SUM_TOLERANCE);
}

static void run_forward(const long *shape)
{
    forward("batchnorm_forward", random_values(shape), shape);
}

/* Far from 0: where the mean of the squares minus the square of the mean is noise. */
static void run_large_mean(const long *shape)
{
    forward("batchnorm_forward", random_f32_between(norm_of(shape).size, 9998.0f, 10002.0f), shape);
}

/* A variance far below eps, which then decides. */
static void run_tiny_variance(const long *shape)
{
    forward("batchnorm_forward", random_f32_between(norm_of(shape).size, -1e-6f, 1e-6f), shape);
}

static void run_constant(const long *shape)
{
    const size_t size = norm_of(shape).size;
    float *x = f32_array(size);
    for (size_t i = 0; i < size; i++) x[i] = 0.75f;
    forward("batchnorm_forward", x, shape);
}

/* The mean of nothing is none: what was learned before stays. */
static void run_forward_of_nothing(const long *shape)
{
    const size_t channels = (size_t)shape[1];
    const float *any = random_f32(channels);
    const trained before = {.running_mean = random_f32(channels),
                            .running_var = random_f32(channels)};
    const trained t = call_forward("batchnorm_forward", f32_array(0), any, any, &before, shape);
    for (size_t c = 0; c < channels; c++)
        expect(t.running_mean[c] == before.running_mean[c] &&
                   t.running_var[c] == before.running_var[c],
               "channel %zu has no elements, and its running statistics change", c);
}

/* ---- gradients ------------------------------------------------------------------------------- */

typedef struct gradients {
    const float *x, *grad_y, *gamma;
    float *mean, *rstd, *grad_x, *grad_gamma, *grad_beta;
} gradients;

static gradients call_backward(const char *function, const long *shape)
{
    const norm d = norm_of(shape);
    const size_t c = (size_t)d.channels;
    gradients g = {random_f32(d.size), random_values(shape), random_f32_between(c, -2.0f, 2.0f),
                   f32_array(c),       f32_array(c),         f32_array(d.size),
                   f32_array(c),       f32_array(c)};
    for (long i = 0; i < d.channels; i++) {
        double mean = 0.0, var = 0.0;
        if (d.n > 0) moments(&d, i, g.x, &mean, &var);
        g.mean[i] = (float)mean;
        g.rstd[i] = (float)(1.0 / sqrt(var + eps));
    }
    call_cuda(function,
              ARGS(out_f32("grad_x", g.grad_x, d.size), out_f32("grad_gamma", g.grad_gamma, c),
                   out_f32("grad_beta", g.grad_beta, c), in_f32("grad_y", g.grad_y, d.size),
                   in_f32("x", g.x, d.size), in_f32("mean", g.mean, c), in_f32("rstd", g.rstd, c),
                   in_f32("gamma", g.gamma, c), SIZES(shape), stream()));
    return g;
}

typedef struct sums {
    double sum, dot, size_of_sum, size_of_dot; /* sizes: of the absolute terms */
} sums;

static sums sums_of(const norm *d, long c, const gradients *g)
{
    sums s = {0};
    for (size_t i = 0; i < d->n; i++) {
        const size_t at = element(d, c, i);
        const double xhat = ((double)g->x[at] - g->mean[c]) * g->rstd[c];
        s.sum += g->grad_y[at];
        s.dot += g->grad_y[at] * xhat;
        s.size_of_sum += fabs(g->grad_y[at]);
        s.size_of_dot += fabs(g->grad_y[at]) * (fabs(xhat) + fabs(g->mean[c]) * g->rstd[c]);
    }
    return s;
}

/* What of the two sums is taken off grad_y. */
static void suspect_sums(const norm *d, const gradients *g)
{
    double *mean = f64_array(d->size), *dot = f64_array(d->size);
    for (long c = 0; c < d->channels; c++) {
        const sums s = sums_of(d, c, g);
        const double n = (double)d->n, factor = (double)g->gamma[c] * g->rstd[c];
        for (size_t i = 0; i < d->n; i++) {
            const size_t at = element(d, c, i);
            const double xhat = ((double)g->x[at] - g->mean[c]) * g->rstd[c];
            mean[at] = -factor * s.sum / n, dot[at] = -factor * xhat * s.dot / n;
        }
    }
    suspect_term("the mean of grad_y is off", mean);
    suspect_term("xhat times the mean of grad_y xhat is off", dot);
}

static void backward(const char *function, const long *shape)
{
    const norm d = norm_of(shape);
    const size_t channels = (size_t)d.channels;
    const gradients g = call_backward(function, shape);
    double *want = f64_array(d.size), *scale = f64_array(d.size);
    double *want_gamma = f64_array(channels), *want_beta = f64_array(channels);
    double *scale_gamma = f64_array(channels), *scale_beta = f64_array(channels);
    for (long c = 0; c < d.channels && !is_baseline(function); c++) {
        const sums s = sums_of(&d, c, &g);
        const double n = (double)d.n, factor = (double)g.gamma[c] * g.rstd[c];
        want_gamma[c] = s.dot, scale_gamma[c] = s.size_of_dot;
        want_beta[c] = s.sum, scale_beta[c] = s.size_of_sum;
        for (size_t i = 0; i < d.n; i++) {
            const size_t at = element(&d, c, i);
            const double xhat = ((double)g.x[at] - g.mean[c]) * g.rstd[c];
            want[at] = factor * (g.grad_y[at] - s.sum / n - xhat * s.dot / n);
            scale[at] = fabs(factor) * (fabs(g.grad_y[at]) + s.size_of_sum / n +
                                        (1.0 + fabs(xhat)) * s.size_of_dot / n);
        }
    }
    if (is_baseline(function)) return;
    expect_close(channels_of("grad_beta", &d), g.grad_beta, want_beta, scale_beta,
                 FP32_SUM_TOLERANCE);
    expect_close(channels_of("grad_gamma", &d), g.grad_gamma, want_gamma, scale_gamma,
                 FP32_SUM_TOLERANCE);
    if (!is_close(planes_of("grad_x", &d), g.grad_x, want, scale, FP32_SUM_TOLERANCE))
        suspect_sums(&d, &g);
    expect_close(planes_of("grad_x", &d), g.grad_x, want, scale, FP32_SUM_TOLERANCE);
}

static void run_backward(const long *shape)
{
    backward("batchnorm_backward", shape);
}

static void run_same_bits(const long *shape)
{
    const norm d = norm_of(shape);
    const size_t channels = (size_t)d.channels;
    random_state *random = case_random();
    const random_state before = *random;
    gradients first = {0};
    for (int n = 0; n < 3; n++) {
        *random = before; /* the same inputs once more */
        const gradients g = call_backward("batchnorm_backward", shape);
        if (n == 0) first = g;
        expect(memcmp(first.grad_x, g.grad_x, d.size * sizeof(float)) == 0 &&
                   memcmp(first.grad_gamma, g.grad_gamma, channels * sizeof(float)) == 0 &&
                   memcmp(first.grad_beta, g.grad_beta, channels * sizeof(float)) == 0,
               "the gradients have other bits for the same input: the order of additions changes");
    }
}

/* Sum of grad_y * y over one channel, when its element `at` is moved by `step`. */
static double loss(const norm *d, long c, const gradients *g, size_t at, double step)
{
    double sum = 0.0, squares = 0.0, total = 0.0;
    for (size_t i = 0; i < d->n; i++) sum += g->x[element(d, c, i)];
    const double mean = (sum + step) / (double)d->n;
    for (size_t i = 0; i < d->n; i++) {
        const size_t here = element(d, c, i);
        const double distance = g->x[here] + (here == at ? step : 0.0) - mean;
        squares += distance * distance;
        total += g->grad_y[here] * distance;
    }
    return g->gamma[c] * total / sqrt(squares / (double)d->n + eps);
}

static void run_central_differences(const long *shape)
{
    const norm d = norm_of(shape);
    const gradients g = call_backward("batchnorm_backward", shape);
    for (int s = 0; s < SAMPLES; s++) {
        const size_t at = random_below(case_random(), d.size);
        const long c = channel_of(&d, at);
        const double slope = (loss(&d, c, &g, at, 1e-4) - loss(&d, c, &g, at, -1e-4)) / 2e-4;
        expect(fabs(g.grad_x[at] - slope) <= 1e-4 * fmax(1.0, fabs(slope)),
               "grad_x[%zu] is %.9g, central differences say %.9g", at, g.grad_x[at], slope);
    }
}

/* How y moves in channel c when x moves along `v`: <grad_y, that>, with `size` of its terms. */
static double moved_along(const norm *d, long c, const gradients *g, const float *v, double *size)
{
    const double n = (double)d->n, factor = (double)g->gamma[c] * g->rstd[c];
    double mean = 0.0, along = 0.0, total = 0.0;
    for (size_t i = 0; i < d->n; i++) {
        const size_t at = element(d, c, i);
        mean += v[at] / n;
        along += v[at] * ((double)g->x[at] - g->mean[c]) * g->rstd[c] / n;
    }
    for (size_t i = 0; i < d->n; i++) {
        const size_t at = element(d, c, i);
        const double xhat = ((double)g->x[at] - g->mean[c]) * g->rstd[c];
        const double term = factor * g->grad_y[at] * (v[at] - mean - xhat * along);
        total += term;
        *size += fabs(term);
    }
    return total;
}

/* Both ways through the same derivative: <grad_x, v> = <grad_y, J v>. */
static void run_adjoint(const long *shape)
{
    const norm d = norm_of(shape);
    const gradients g = call_backward("batchnorm_backward", shape);
    const float *v = random_f32(d.size);
    double got = 0.0, want = 0.0, size = 0.0;
    for (size_t i = 0; i < d.size; i++) got += (double)g.grad_x[i] * v[i];
    for (long c = 0; c < d.channels; c++) want += moved_along(&d, c, &g, v, &size);
    expect(fabs(got - want) <= FP32_SUM_TOLERANCE * size,
           "<grad_x, v> is %.9g, <grad_y, J v> is %.9g", got, want);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const grading_case cases[] = {
    {.name = "infer 2x3x5x7", .run = run_infer, .shape = {2, 3, 5, 7}},
    {.name = "infer 1x1x1x1", .run = run_infer, .shape = {1, 1, 1, 1}},
    {.name = "infer 3x90x17x16", .run = run_infer, .shape = {3, 90, 17, 16}},
    LONG_ROW("infer 70000x2x1x1", run_infer, 70000, 2, 1, 1),
    LONG_ROW("infer 1x70001x1x1", run_infer, 1, 70001, 1, 1),
    LONG_ROW("infer 1x1x70001x1", run_infer, 1, 1, 70001, 1),
    LONG_ROW("infer 1x1x1x70001", run_infer, 1, 1, 1, 70001),
    {.name = "infer any", .run = run_infer, .shape = {1, 1, 1, 1}, .most = {5, 20, 13, 40}},
    {.name = "infer 3x4x8x8", .run = run_infer, .shape = {3, 4, 8, 8}},
    {.name = "infer with NaN", .run = run_infer, .shape = {2, 5, 6, 7, 2}},
    {.name = "infer in place", .run = run_infer_in_place, .shape = {2, 5, 6, 7}},
    {.name = "infer, empty batch", .run = run_infer, .shape = {0, 3, 5, 7}},
    {.name = "infer, no pixels", .run = run_infer, .shape = {2, 3, 0, 7}},
    {.name = "forward 2x3x5x7",
     .run = run_forward,
     .shape = {2, 3, 5, 7},
     .part = "batchnorm_forward"},
    {.name = "forward 1x1x1x2", .run = run_forward, .shape = {1, 1, 1, 2}},
    {.name = "forward 4x17x13x9", .run = run_forward, .shape = {4, 17, 13, 9}},
    {.name = "forward 1500x3x1x1", .run = run_forward, .shape = {1500, 3, 1, 1}},
    {.name = "forward 2x2x40x41", .run = run_forward, .shape = {2, 2, 40, 41}},
    LONG_ROW("forward 70001x1x1x1", run_forward, 70001, 1, 1, 1),
    {.name = "forward any", .run = run_forward, .shape = {1, 1, 1, 1}, .most = {5, 20, 13, 40}},
    {.name = "forward 3x4x8x8", .run = run_forward, .shape = {3, 4, 8, 8}},
    {.name = "forward 2x1100x1x1", .run = run_forward, .shape = {2, 1100, 1, 1}},
    {.name = "forward 2x70001x1x1", .run = run_forward, .shape = {2, 70001, 1, 1}, .where = ON_GPU},
    LONG_ROW("forward 1x1x70001x1", run_forward, 1, 1, 70001, 1),
    LONG_ROW("forward 1x1x1x70001", run_forward, 1, 1, 1, 70001),
    {.name = "forward, tiny variance", .run = run_tiny_variance, .shape = {3, 4, 14, 15}},
    {.name = "forward with NaN", .run = run_forward, .shape = {3, 17, 5, 7, 1}},
    {.name = "forward of one element", .run = run_forward, .shape = {1, 4, 1, 1}},
    {.name = "forward, means of 10000", .run = run_large_mean, .shape = {3, 4, 14, 15}},
    {.name = "forward, all equal", .run = run_constant, .shape = {2, 3, 4, 5}},
    {.name = "forward, empty batch", .run = run_forward_of_nothing, .shape = {0, 3, 5, 7}},
    {.name = "forward, no channels", .run = run_forward_of_nothing, .shape = {2, 0, 5, 7}},
    {.name = "backward 2x3x5x7",
     .run = run_backward,
     .shape = {2, 3, 5, 7},
     .part = "batchnorm_backward"},
    {.name = "backward 4x17x13x9", .run = run_backward, .shape = {4, 17, 13, 9}},
    {.name = "backward 1500x3x1x1", .run = run_backward, .shape = {1500, 3, 1, 1}},
    {.name = "backward 2x2x40x41", .run = run_backward, .shape = {2, 2, 40, 41}},
    LONG_ROW("backward 70001x1x1x1", run_backward, 70001, 1, 1, 1),
    {.name = "backward any", .run = run_backward, .shape = {1, 1, 1, 1}, .most = {5, 20, 13, 40}},
    {.name = "backward 3x4x8x8", .run = run_backward, .shape = {3, 4, 8, 8}},
    {.name = "backward 2x1100x1x1", .run = run_backward, .shape = {2, 1100, 1, 1}},
    {.name = "backward 2x70001x1x1",
     .run = run_backward,
     .shape = {2, 70001, 1, 1},
     .where = ON_GPU},
    LONG_ROW("backward 1x1x70001x1", run_backward, 1, 1, 70001, 1),
    LONG_ROW("backward 1x1x1x70001", run_backward, 1, 1, 1, 70001),
    {.name = "backward, empty batch", .run = run_backward, .shape = {0, 3, 5, 7}},
    {.name = "backward, no channels", .run = run_backward, .shape = {2, 0, 5, 7}},
    {.name = "backward with NaN", .run = run_backward, .shape = {3, 17, 5, 7, 1}},
    {.name = "backward, the same bits every time", .run = run_same_bits, .shape = {4, 5, 40, 33}},
    {.name = "central differences", .run = run_central_differences, .shape = {2, 3, 4, 5}},
    {.name = "adjoint", .run = run_adjoint, .shape = {3, 5, 7, 9}},
    {.name = "fold 4x27", .run = run_fold, .shape = {4, 27, 0}, .part = "batchnorm_fold"},
    {.name = "fold 5x9 with bias", .run = run_fold, .shape = {5, 9, 1}},
    {.name = "fold 130x576 with bias", .run = run_fold, .shape = {130, 576, 1}},
    {.name = "fold any", .run = run_fold, .shape = {1, 1, 0}, .most = {70, 600, 1}},
    {.name = "fold 4x0 with bias", .run = run_fold, .shape = {4, 0, 1}},
    {.name = "fold 0x9", .run = run_fold, .shape = {0, 9, 0}},
    LONG_ROW("fold 70001x2", run_fold, 70001, 2, 1),
    LONG_ROW("fold 2x70001", run_fold, 2, 70001, 1),
    {.name = "forward 32x64x56x56",
     .run = run_forward,
     .shape = {32, 64, 56, 56},
     .where = ON_GPU,
     .once = true,
     .part = "batchnorm_forward"},
    {.name = "backward 32x64x56x56",
     .run = run_backward,
     .shape = {32, 64, 56, 56},
     .where = ON_GPU,
     .once = true,
     .part = "batchnorm_backward"},
    {0},
};

static void timed_infer(const char *function, const long *shape)
{
    infer(function, shape, false);
}

static void timed_forward(const char *function, const long *shape)
{
    forward(function, random_f32(norm_of(shape).size), shape);
}

#define LARGE (32.0 * 64 * 112 * 112)

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "32 × 64 × 112 × 112"},
     .function = "batchnorm_infer",
     .baseline = "baseline_batchnorm_copy",
     .run = timed_infer,
     .shape = {32, 64, 112, 112},
     .where = ON_GPU,
     .threshold = 0.55,
     .bytes = 8 * LARGE,
     .peer_share = 0.85,
     .peer_bytes = 8 * LARGE},
    {.metric = {"speedup", .over = "one thread per channel", .shape = "16 × 64 × 28 × 28"},
     .function = "batchnorm_forward",
     .baseline = "baseline_batchnorm_by_thread",
     .run = timed_forward,
     .shape = {16, 64, 28, 28},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 40.0,
     .peer_share = 0.0013,
     .peer_bytes = 16.0 * 16 * 64 * 28 * 28},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "4 × 16 × 32 × 32"},
     .function = "batchnorm_infer",
     .run = timed_infer,
     .shape = {4, 16, 32, 32},
     .count = moved_bytes,
     .ideal = 8.0 * 4 * 16 * 32 * 32,
     .bound = AT_MOST,
     .wanted = 1.4,
     .begin = 2.125},
    {.metric = {"reduction in instructions", .per = "warp", .over = "one thread per channel",
                .shape = "4 × 32 × 16 × 16"},
     .function = "batchnorm_forward",
     .baseline = "baseline_batchnorm_by_thread",
     .run = timed_forward,
     .shape = {4, 32, 16, 16},
     .count = instructions_per_warp,
     .bound = AT_LEAST,
     .wanted = 10.0},
    {0},
};

EXERCISE(309) = {
    .id = 309,
    .name = "batchnorm",
    .file = "phase3_layers/309_batchnorm/309_batchnorm.cu",
    .functions = {"batchnorm_infer", "batchnorm_forward", "batchnorm_backward", "batchnorm_fold"},
    .baseline_file = "grader/exercises/309_batchnorm/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "forward 2x3x5x7",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
