/* 111_linear_backward: the gradients of a linear layer against double; and the judgement of the
 * student's gradcheck, which must accept right gradients of several losses and reject wrong ones.
 * The losses are functions of the worker; their gradients are derived here. */
#include "correctness/case.h"
#include "losses.h"

#include <math.h>
#include <string.h>

#define ACCEPT  1e-2 /* the contract: a right gradient gives less than this, a wrong one more */
#define ANY     -1   /* so many samples that all coordinates are tried */
#define SEEDS   60
#define SAMPLES 8

/* ---- linear_backward_cpu --------------------------------------------------------------------- */

static void expect_sums(layout l, const float *got, const float *left, const float *right, long k)
{
    const size_t size = l.rows * l.cols;
    double *want = f64_array(size), *scale = f64_array(size);
    reference_matmul(want, scale, left, right, (long)l.rows, (long)l.cols, k);
    if (!is_close(l, got, want, scale, FP32_SUM_TOLERANCE)) {
        suspect_product(got, left, right, (long)l.rows, (long)l.cols, k);
    }
    expect_close(l, got, want, scale, FP32_SUM_TOLERANCE);
}

static float *transposed(const float *x, size_t rows, size_t cols)
{
    float *y = f32_array(rows * cols);
    for (size_t i = 0; i < rows * cols; i++) y[i % cols * rows + i / cols] = x[i];
    return y;
}

/* shape: batch, in, out, of each input how many are NaN and how many infinite */
static void run_backward(const long *shape)
{
    const size_t batch = (size_t)shape[0], in = (size_t)shape[1], out = (size_t)shape[2];
    float *grad_y = random_f32(batch * out), *x = random_f32(batch * in), *w = random_f32(out * in);
    sprinkle_special_f32(grad_y, batch * out, (int)shape[3]);
    sprinkle_special_f32(x, batch * in, (int)shape[3]);
    sprinkle_special_f32(w, out * in, (int)shape[3]);
    const float *grad_y_t = transposed(grad_y, batch, out);
    float *grad_x = f32_array(batch * in), *grad_w = f32_array(out * in);
    float *grad_bias = f32_array(out), *ones = f32_array(batch);
    for (size_t i = 0; i < batch; i++) ones[i] = 1.0f;
    call_void("linear_backward_cpu",
              ARGS(out_f32("grad_x", grad_x, batch * in), out_f32("grad_w", grad_w, out * in),
                   out_f32("grad_bias", grad_bias, out), in_f32("grad_y", grad_y, batch * out),
                   in_f32("x", x, batch * in), in_f32("w", w, out * in), i32((int)batch),
                   i32((int)in), i32((int)out)));
    expect_sums((layout){"grad_x", batch, in}, grad_x, grad_y, w, (long)out);
    expect_sums((layout){"grad_w", out, in}, grad_w, grad_y_t, x, (long)batch);
    expect_sums((layout){"grad_bias", out, 1}, grad_bias, grad_y_t, ones, (long)batch);
}

/* ---- losses and their gradients -------------------------------------------------------------- */

/* Fill grad[n]; without `complete`, one term of the derivation is forgotten. */
typedef void gradient_function(double *grad, const float *theta, bool complete);

static void quadratic_gradient(double *grad, const float *theta, double unit, bool complete)
{
    const double coupling = complete ? 1.0 : 0.0;
    for (int i = 0; i < LOSS_QUADRATIC_N; i++) {
        grad[i] = (1 + i) * (theta[i] / unit - loss_data(i));
        if (i > 0) grad[i] += coupling * theta[i - 1] / unit;
        if (i + 1 < LOSS_QUADRATIC_N) grad[i] += coupling * theta[i + 1] / unit;
        grad[i] /= unit;
    }
}

static void bowl_gradient(double *grad, const float *theta, bool complete)
{
    quadratic_gradient(grad, theta, 1.0, complete);
}

static void waves_gradient(double *grad, const float *theta, bool complete)
{
    (void)complete;
    for (int i = 0; i < LOSS_QUADRATIC_N; i++) grad[i] = cos(LOSS_WAVES * theta[i]);
}

static void tiny_gradient(double *grad, const float *theta, bool complete)
{
    quadratic_gradient(grad, theta, 1.0, complete);
    for (int i = 0; i < LOSS_QUADRATIC_N; i++) grad[i] *= LOSS_TINY_FACTOR;
}

static void large_gradient(double *grad, const float *theta, bool complete)
{
    quadratic_gradient(grad, theta, LOSS_LARGE_UNIT, complete);
}

static void flat_gradient(double *grad, const float *theta, bool complete)
{
    (void)theta, (void)complete;
    for (int i = 0; i < LOSS_QUADRATIC_N; i++) grad[i] = 0.0;
}

/* One row's share in the gradient of w[rows x in] and bias[rows]. */
static void add_layer(double *grad, double *grad_bias, const double *grad_y, const double *x,
                      int out, int in)
{
    for (int o = 0; o < out; o++) {
        for (int i = 0; i < in; i++) grad[o * in + i] += grad_y[o] * x[i] / LOSS_BATCH;
        grad_bias[o] += grad_y[o] / LOSS_BATCH;
    }
}

static void layer_outputs(double *y, const float *w, const float *bias, const double *x, int out,
                          int in)
{
    for (int o = 0; o < out; o++) {
        y[o] = bias[o];
        for (int i = 0; i < in; i++) y[o] += w[o * in + i] * x[i];
    }
}

static void linear_gradient(double *grad, const float *theta, bool complete)
{
    double *grad_bias = grad + LOSS_OUT * LOSS_IN;
    memset(grad, 0, LOSS_LINEAR_N * sizeof *grad);
    for (int row = 0; row < LOSS_BATCH; row++) {
        double x[LOSS_IN], y[LOSS_OUT];
        for (int i = 0; i < LOSS_IN; i++) x[i] = loss_x(row, i);
        layer_outputs(y, theta, theta + LOSS_OUT * LOSS_IN, x, LOSS_OUT, LOSS_IN);
        for (int o = 0; o < LOSS_OUT; o++) y[o] -= loss_target(row, o); /* grad_y from here on */
        add_layer(grad, grad_bias, y, x, LOSS_OUT, LOSS_IN);
    }
    for (int o = 0; !complete && o < LOSS_OUT; o++) grad_bias[o] = 0.0;
}

static void mlp_gradient(double *grad, const float *theta, bool complete)
{
    const float *bias1 = theta + LOSS_HIDDEN * LOSS_IN, *w2 = bias1 + LOSS_HIDDEN;
    double *grad_bias1 = grad + (bias1 - theta), *grad_w2 = grad + (w2 - theta);
    double *grad_bias2 = grad_w2 + LOSS_OUT * LOSS_HIDDEN;
    memset(grad, 0, LOSS_MLP_N * sizeof *grad);
    for (int row = 0; row < LOSS_BATCH; row++) {
        double x[LOSS_IN], hidden[LOSS_HIDDEN], y[LOSS_OUT], grad_hidden[LOSS_HIDDEN], sum = 0.0;
        for (int i = 0; i < LOSS_IN; i++) x[i] = loss_x(row, i);
        layer_outputs(hidden, theta, bias1, x, LOSS_HIDDEN, LOSS_IN);
        for (int h = 0; h < LOSS_HIDDEN; h++) hidden[h] = tanh(hidden[h]);
        layer_outputs(y, w2, w2 + LOSS_OUT * LOSS_HIDDEN, hidden, LOSS_OUT, LOSS_HIDDEN);
        for (int o = 0; o < LOSS_OUT; o++) sum += exp(y[o]);
        for (int o = 0; o < LOSS_OUT; o++) y[o] = exp(y[o]) / sum - (o == loss_label(row));
        for (int h = 0; h < LOSS_HIDDEN; h++) {
            grad_hidden[h] = 0.0;
            for (int o = 0; o < LOSS_OUT; o++) grad_hidden[h] += y[o] * w2[o * LOSS_HIDDEN + h];
            if (complete) grad_hidden[h] *= 1.0 - hidden[h] * hidden[h];
        }
        add_layer(grad, grad_bias1, grad_hidden, x, LOSS_HIDDEN, LOSS_IN);
        add_layer(grad_w2, grad_bias2, y, hidden, LOSS_OUT, LOSS_HIDDEN);
    }
}

enum loss { QUADRATIC, WAVES, TINY, LARGE, FLAT, LINEAR, MLP };

static const struct {
    const char *name;
    int n;
    double reach; /* theta is chosen in (-reach, reach) */
    gradient_function *gradient;
} losses[] = {
    [QUADRATIC] = {"loss_quadratic", LOSS_QUADRATIC_N, 1.0, bowl_gradient},
    [WAVES] = {"loss_waves", LOSS_QUADRATIC_N, 1.0, waves_gradient},
    [TINY] = {"loss_tiny", LOSS_QUADRATIC_N, 1.0, tiny_gradient},
    [LARGE] = {"loss_large", LOSS_QUADRATIC_N, LOSS_LARGE_UNIT, large_gradient},
    [FLAT] = {"loss_flat", LOSS_QUADRATIC_N, 1.0, flat_gradient},
    [LINEAR] = {"loss_linear", LOSS_LINEAR_N, 1.0, linear_gradient},
    [MLP] = {"loss_mlp", LOSS_MLP_N, 1.0, mlp_gradient},
};

/* ---- points and gradients -------------------------------------------------------------------- */

static bool nearly_zero(const double *grad, int n)
{
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < n; i++) least = fmin(least, fabs(grad[i]));
    for (int i = 0; i < n; i++) most = fmax(most, fabs(grad[i]));
    return least < 1e-2 * most;
}

/* A point where no derivative is nearly zero: which floor gradcheck has makes no difference there.
 * grad receives the gradient. */
static float *choose_theta(enum loss loss, double *grad, bool complete)
{
    const int n = losses[loss].n;
    float *theta;
    do {
        const float reach = (float)losses[loss].reach;
        theta = random_f32_between((size_t)n, -reach, reach);
        losses[loss].gradient(grad, theta, true);
    } while (nearly_zero(grad, n));
    losses[loss].gradient(grad, theta, complete);
    return theta;
}

/* What gradcheck says of the gradient, with theta as it was afterwards. */
static double check(enum loss loss, float *theta, const double *grad, int samples, uint64_t seed)
{
    const size_t n = (size_t)losses[loss].n;
    float *rounded = f32_array(n), *was = f32_array(n);
    for (size_t i = 0; i < n; i++) rounded[i] = (float)grad[i];
    memcpy(was, theta, n * sizeof *was);
    double error = call_returning_f64(
        "gradcheck", ARGS(worker_function(losses[loss].name), null_pointer(),
                          inout_f32("theta", theta, n), in_f32("grad", rounded, n), u64(n),
                          i32(samples == ANY ? (int)n : samples), u64(seed)));
    for (size_t i = 0; i < n; i++) {
        expect(theta[i] == was[i], "theta[%zu] was %.9g, and gradcheck left it at %.9g", i, was[i],
               theta[i]);
    }
    return error;
}

static uint64_t any_seed(void)
{
    return random_u64(case_random());
}

static void expect_rejected(enum loss loss, float *theta, const double *grad, const char *what)
{
    double error = check(loss, theta, grad, ANY, any_seed());
    expect(!(error < ACCEPT), "gradcheck accepts a gradient of %s with %s: it returned %.3g",
           losses[loss].name, what, error);
}

/* shape: loss */
static void run_accept(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    double *grad = f64_array((size_t)losses[loss].n);
    float *theta = choose_theta(loss, grad, true);
    double error = check(loss, theta, grad, ANY, any_seed());
    const char *half = fabs(error - 0.5) < 0.05 ? ", as of a derivative of half or twice the size: "
                                                  "by which distance is the difference divided?"
                                                : "";
    expect(error < ACCEPT, "gradcheck rejects the right gradient of %s: it returned %.3g%s",
           losses[loss].name, error, half);
}

static void run_sign(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    double *grad = f64_array((size_t)losses[loss].n);
    float *theta = choose_theta(loss, grad, true);
    for (int i = 0; i < losses[loss].n; i++) grad[i] = -grad[i];
    expect_rejected(loss, theta, grad, "the wrong sign");
}

static void run_factor(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    double *grad = f64_array((size_t)losses[loss].n);
    float *theta = choose_theta(loss, grad, true);
    for (int i = 0; i < losses[loss].n; i++) grad[i] *= LOSS_BATCH;
    expect_rejected(loss, theta, grad, "a sum over the batch instead of the mean");
}

static void run_missing_term(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    double *grad = f64_array((size_t)losses[loss].n);
    float *theta = choose_theta(loss, grad, false);
    expect_rejected(loss, theta, grad, "a missing term");
}

/* One derivative of all is wrong by 10 %: each in turn. */
static void run_one_element(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    double *grad = f64_array((size_t)losses[loss].n);
    float *theta = choose_theta(loss, grad, true);
    for (int i = 0; i < losses[loss].n; i++) {
        const double right = grad[i];
        grad[i] *= 1.1;
        expect_rejected(loss, theta, grad, "one element wrong by 10 %");
        grad[i] = right;
    }
}

static void run_transposed(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    const int n = losses[loss].n, rows = loss == MLP ? LOSS_HIDDEN : LOSS_OUT;
    double *grad = f64_array((size_t)n), *right = f64_array((size_t)n);
    float *theta = choose_theta(loss, right, true);
    memcpy(grad, right, (size_t)n * sizeof *grad);
    for (int o = 0; o < rows; o++) {
        for (int i = 0; i < LOSS_IN; i++) grad[i * rows + o] = right[o * LOSS_IN + i];
    }
    expect_rejected(loss, theta, grad, "grad_w stored transposed");
}

/* The gradient of another point is still in it, as when nobody has set it to zero. */
static void run_stale(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    const int n = losses[loss].n;
    double *grad = f64_array((size_t)n), *stale = f64_array((size_t)n);
    choose_theta(loss, stale, true);
    float *theta = choose_theta(loss, grad, true);
    for (int i = 0; i < n; i++) grad[i] += stale[i];
    expect_rejected(loss, theta, grad, "the gradient of the step before added to it");
}

static void run_nan(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    double *grad = f64_array((size_t)losses[loss].n);
    float *theta = choose_theta(loss, grad, true);
    grad[random_below(case_random(), (uint64_t)losses[loss].n)] = NAN;
    expect_rejected(loss, theta, grad, "one NaN");
}

/* A slope where there is none. */
static void run_not_flat(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    double *grad = f64_array((size_t)losses[loss].n);
    float *theta = choose_theta(loss, grad, true);
    grad[losses[loss].n - 1] = 1e-3;
    expect_rejected(loss, theta, grad, "a slope where the loss is constant");
}

/* With few samples, some seeds find the one wrong element and others do not. */
static void run_samples(const long *shape)
{
    const enum loss loss = (enum loss)shape[0];
    double *grad = f64_array((size_t)losses[loss].n);
    float *theta = choose_theta(loss, grad, true);
    grad[random_below(case_random(), (uint64_t)losses[loss].n)] *= 1.1;
    int found = 0;
    for (int i = 0; i < SEEDS; i++) {
        found += !(check(loss, theta, grad, SAMPLES, any_seed()) < ACCEPT);
    }
    expect(found > 0, "%d samples of %d, %d seeds: the one wrong element is never found", SAMPLES,
           losses[loss].n, SEEDS);
    expect(found < SEEDS, "%d samples of %d, %d seeds: the one wrong element is always found",
           SAMPLES, losses[loss].n, SEEDS);
}

/* All of them, of a loss that none changes. shape: parameters */
static void run_flat(const long *shape)
{
    const size_t n = (size_t)shape[0];
    double error = call_returning_f64(
        "gradcheck",
        ARGS(worker_function("loss_flat"), null_pointer(), inout_f32("theta", f32_array(n), n),
             in_f32("grad", f32_array(n), n), u64(n), i32((int)n + 5), u64(any_seed())));
    expect(error < ACCEPT,
           "gradcheck rejects the zero gradient of %zu parameters: it returned %.3g", n, error);
}

static const grading_case cases[] = {
    {.name = "1x1x1", .run = run_backward, .shape = {1, 1, 1}},
    {.name = "1x7x3", .run = run_backward, .shape = {1, 7, 3}},
    {.name = "7x13x5", .run = run_backward, .shape = {7, 13, 5}},
    {.name = "16x16x16", .run = run_backward, .shape = {16, 16, 16}},
    {.name = "33x65x17", .run = run_backward, .shape = {33, 65, 17}},
    {.name = "100x1x3", .run = run_backward, .shape = {100, 1, 3}},
    {.name = "64x784x10", .run = run_backward, .shape = {64, 784, 10}},
    {.name = "70001x2x3", .run = run_backward, .shape = {70001, 2, 3}},
    {.name = "2x70001x3", .run = run_backward, .shape = {2, 70001, 3}},
    {.name = "2x3x70001", .run = run_backward, .shape = {2, 3, 70001}},
    {.name = "nan", .run = run_backward, .shape = {17, 23, 29, 1}},
    LONG_ROW("long enough for threads", run_backward, 400, 512, 256),
    {.name = "any_shape", .run = run_backward, .shape = {1, 1, 1}, .most = {60, 300, 60}},
    {.name = "no_batch", .run = run_backward, .shape = {0, 6, 4}},
    {.name = "no_inputs", .run = run_backward, .shape = {5, 0, 4}},
    {.name = "no_outputs", .run = run_backward, .shape = {5, 6, 0}},
    {.name = "accepts_quadratic", .run = run_accept, .shape = {QUADRATIC}, .part = "gradcheck"},
    {.name = "accepts_linear", .run = run_accept, .shape = {LINEAR}},
    {.name = "accepts_mlp", .run = run_accept, .shape = {MLP}},
    {.name = "accepts_tiny", .run = run_accept, .shape = {TINY}},
    {.name = "accepts_waves", .run = run_accept, .shape = {WAVES}},
    {.name = "accepts_large_theta", .run = run_accept, .shape = {LARGE}},
    {.name = "accepts_flat", .run = run_accept, .shape = {FLAT}},
    {.name = "accepts_no_parameters", .run = run_flat, .shape = {0}},
    {.name = "accepts_70001_parameters", .run = run_flat, .shape = {70001}},
    {.name = "rejects_sign", .run = run_sign, .shape = {MLP}},
    {.name = "rejects_tiny_sign", .run = run_sign, .shape = {TINY}},
    {.name = "rejects_large_sign", .run = run_sign, .shape = {LARGE}},
    {.name = "rejects_factor", .run = run_factor, .shape = {LINEAR}},
    {.name = "rejects_missing_coupling", .run = run_missing_term, .shape = {QUADRATIC}},
    {.name = "rejects_missing_bias", .run = run_missing_term, .shape = {LINEAR}},
    {.name = "rejects_missing_tanh", .run = run_missing_term, .shape = {MLP}},
    {.name = "rejects_one_element", .run = run_one_element, .shape = {MLP}},
    {.name = "rejects_transposed", .run = run_transposed, .shape = {LINEAR}},
    {.name = "rejects_transposed_mlp", .run = run_transposed, .shape = {MLP}},
    {.name = "rejects_stale", .run = run_stale, .shape = {LINEAR}},
    {.name = "rejects_nan", .run = run_nan, .shape = {MLP}},
    {.name = "rejects_slope_of_flat", .run = run_not_flat, .shape = {FLAT}},
    {.name = "samples", .run = run_samples, .shape = {MLP}},
    {0},
};

EXERCISE(111) = {
    .id = 111,
    .name = "linear_backward",
    .file = "phase1_cpu/111_linear_backward/111_linear_backward.c",
    .functions = {"linear_backward_cpu", "gradcheck"},
    .points = 10,
    .cases = cases,
};
