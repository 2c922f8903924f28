/* 311_layernorm: rows of any length and in any number; means far from 0, tiny variances;
 * gradients against double and central differences, the same bits every time; speed against a
 * thread per row. shape: rows, cols, values */
#include "exercises/shared/layer_cases.h"
#include "exercises/shared/norm_cases.h"

#include <math.h>
#include <string.h>

#define SAMPLED_ROWS 200 /* of a timed call */
#define SAMPLES      16  /* coordinates that are moved */

static bool is_baseline(const char *function)
{
    return strncmp(function, "baseline_", 9) == 0; /* ours, and believed */
}

/* ---- forward --------------------------------------------------------------------------------- */

typedef struct normalized_rows {
    const float *x, *gamma, *beta;
    float *y, *mean, *rstd;
    long rows, cols;
} normalized_rows;

static normalized_rows call_forward(const char *function, const float *x, long rows, long cols,
                                    unsigned shift)
{
    const size_t size = (size_t)(rows * cols), r = (size_t)rows, c = (size_t)cols;
    norm_eps = rows % 2 ? 1e-5f : 1e-3f; /* not always the usual one */
    const normalized_rows n = {x,
                               random_f32_between(c, -2.0f, 2.0f),
                               random_f32(c),
                               f32_array(size),
                               f32_array(r),
                               f32_array(r),
                               rows,
                               cols};
    call_cuda(
        function,
        ARGS(shifted(out_f32("y", n.y, size), shift), shifted(out_f32("mean", n.mean, r), shift),
             shifted(out_f32("rstd", n.rstd, r), shift), shifted(in_f32("x", x, size), shift),
             shifted(in_f32("gamma", n.gamma, c), shift), shifted(in_f32("beta", n.beta, c), shift),
             i32((int)rows), i32((int)cols), f32(norm_eps), stream()));
    return n;
}

static void forward_and_check(const float *x, long rows, long cols, unsigned shift)
{
    const normalized_rows n = call_forward("layernorm_forward", x, rows, cols, shift);
    expect_row_statistics(n.mean, n.rstd, x, rows, cols);
    expect_layernorm("y", n.y, x, n.gamma, n.beta, rows, cols);
}

static void run_forward(const long *shape)
{
    forward_and_check(random_rows((row_values)shape[2], shape[0], shape[1]), shape[0], shape[1], 0);
}

static void run_forward_misaligned(const long *shape)
{
    forward_and_check(random_rows(AROUND_0, shape[0], shape[1]), shape[0], shape[1], 4);
}

/* Nothing is written, not even the mean of nothing. */
static void run_no_columns(const long *shape)
{
    const size_t rows = (size_t)shape[0];
    float *mean = f32_array(rows), *rstd = f32_array(rows), none[1];
    call_cuda("layernorm_forward",
              ARGS(out_f32("y", none, 0), inout_f32("mean", mean, rows),
                   inout_f32("rstd", rstd, rows), in_f32("x", none, 0), in_f32("gamma", none, 0),
                   in_f32("beta", none, 0), i32((int)rows), i32(0), f32(norm_eps), stream()));
    for (size_t r = 0; r < rows; r++)
        expect(mean[r] == 0.0f && rstd[r] == 0.0f, "row %zu has no columns, and is written", r);
}

static void run_timed_forward(const char *function, const long *shape)
{
    const long rows = shape[0], cols = shape[1];
    const normalized_rows n =
        call_forward(function, random_rows(AROUND_0, rows, cols), rows, cols, 0);
    const int *some = sampled_rows(SAMPLED_ROWS, rows);
    expect_layernorm("y", rows_of(n.y, cols, some, SAMPLED_ROWS),
                     rows_of(n.x, cols, some, SAMPLED_ROWS), n.gamma, n.beta, SAMPLED_ROWS, cols);
}

/* ---- backward -------------------------------------------------------------------------------- */

typedef struct gradients {
    const float *x, *grad_y, *gamma;
    float *mean, *rstd, *grad_x, *grad_gamma, *grad_beta;
    long rows, cols;
} gradients;

static gradients inputs(row_values values, long rows, long cols)
{
    const size_t size = (size_t)(rows * cols), r = (size_t)rows, c = (size_t)cols;
    gradients g = {random_rows(values, rows, cols),
                   random_f32(size),
                   random_f32_between(c, -2.0f, 2.0f),
                   f32_array(r),
                   f32_array(r),
                   f32_array(size),
                   f32_array(c),
                   f32_array(c),
                   rows,
                   cols};
    for (long i = 0; i < rows && cols > 0; i++) {
        double mean, var;
        row_moments(g.x + i * cols, cols, &mean, &var);
        g.mean[i] = (float)mean;
        g.rstd[i] = (float)(1.0 / sqrt(var + norm_eps));
    }
    return g;
}

static void call_backward(const char *function, const gradients *g, unsigned shift)
{
    const size_t size = (size_t)(g->rows * g->cols), r = (size_t)g->rows, c = (size_t)g->cols;
    call_cuda(function, ARGS(shifted(out_f32("grad_x", g->grad_x, size), shift),
                             shifted(out_f32("grad_gamma", g->grad_gamma, c), shift),
                             shifted(out_f32("grad_beta", g->grad_beta, c), shift),
                             shifted(in_f32("grad_y", g->grad_y, size), shift),
                             shifted(in_f32("x", g->x, size), shift),
                             shifted(in_f32("gamma", g->gamma, c), shift),
                             shifted(in_f32("mean", g->mean, r), shift),
                             shifted(in_f32("rstd", g->rstd, r), shift), i32((int)g->rows),
                             i32((int)g->cols), stream()));
}

static double xhat_of(const gradients *g, long row, long i)
{
    return ((double)g->x[i] - g->mean[row]) * g->rstd[row];
}

static void expect_columns(const gradients *g)
{
    const size_t cols = (size_t)g->cols;
    double *gamma = f64_array(cols), *gamma_scale = f64_array(cols);
    double *beta = f64_array(cols), *beta_scale = f64_array(cols), *plain = f64_array(cols);
    for (long i = 0; i < g->rows * g->cols; i++) {
        const long r = i / g->cols, c = i % g->cols;
        const double xhat = xhat_of(g, r, i), of_mean = fabs(g->mean[r]) * g->rstd[r];
        gamma[c] += g->grad_y[i] * xhat;
        gamma_scale[c] += fabs(g->grad_y[i]) * (fabs(xhat) + of_mean);
        beta[c] += g->grad_y[i];
        beta_scale[c] += fabs(g->grad_y[i]);
        plain[c] += (double)g->grad_y[i] * g->x[i];
    }
    const layout l = {"grad_gamma", 1, cols};
    expect_close((layout){"grad_beta", 1, cols}, g->grad_beta, beta, beta_scale,
                 FP32_SUM_TOLERANCE);
    if (!is_close(l, g->grad_gamma, gamma, gamma_scale, FP32_SUM_TOLERANCE))
        suspect("the sum is that of grad_y x, not of grad_y xhat", plain);
    expect_close(l, g->grad_gamma, gamma, gamma_scale, FP32_SUM_TOLERANCE);
}

static void expect_grad_x(const gradients *g)
{
    const size_t size = (size_t)(g->rows * g->cols);
    double *want = f64_array(size), *scale = f64_array(size);
    double *constant = f64_array(size), *no_dot = f64_array(size);
    double *no_gamma = f64_array(size), *of_sum = f64_array(size), *of_dot = f64_array(size);
    for (long r = 0; r < g->rows; r++) {
        const double n = (double)g->cols, of_mean = fabs(g->mean[r]) * g->rstd[r];
        double sum = 0.0, dot = 0.0, size_of_sum = 0.0, size_of_dot = 0.0;
        for (long i = r * g->cols; i < (r + 1) * g->cols; i++) {
            const double term = (double)g->grad_y[i] * g->gamma[i % g->cols];
            const double xhat = xhat_of(g, r, i);
            sum += term / n, size_of_sum += fabs(term) / n;
            dot += term * xhat / n, size_of_dot += fabs(term) * (fabs(xhat) + of_mean) / n;
        }
        for (long i = r * g->cols; i < (r + 1) * g->cols; i++) {
            const double term = (double)g->grad_y[i] * g->gamma[i % g->cols];
            const double xhat = xhat_of(g, r, i);
            constant[i] = g->rstd[r] * term;
            no_dot[i] = g->rstd[r] * (term - sum);
            of_sum[i] = -g->rstd[r] * sum, of_dot[i] = -g->rstd[r] * xhat * dot;
            no_gamma[i] = g->rstd[r] * (g->grad_y[i] - sum - xhat * dot);
            want[i] = g->rstd[r] * (term - sum - xhat * dot);
            scale[i] = g->rstd[r] *
                       (fabs(term) + size_of_sum + (1.0 + fabs(xhat) + of_mean) * size_of_dot);
        }
    }
    const layout l = {"grad_x", (size_t)g->rows, (size_t)g->cols};
    if (!is_close(l, g->grad_x, want, scale, FP32_SUM_TOLERANCE)) {
        suspect("gamma is left out", no_gamma);
        suspect("mean and variance are treated as constants: they depend on x", constant);
        suspect("the variance is treated as a constant: the term with xhat is missing", no_dot);
        suspect_term("the mean of grad_y is off", of_sum);
        suspect_term("xhat times the mean of grad_y xhat is off", of_dot);
    }
    expect_close(l, g->grad_x, want, scale, FP32_SUM_TOLERANCE);
}

static void backward_and_check(const long *shape, unsigned shift)
{
    const gradients g = inputs((row_values)shape[2], shape[0], shape[1]);
    call_backward("layernorm_backward", &g, shift);
    expect_columns(&g);
    expect_grad_x(&g);
}

static void run_backward(const long *shape)
{
    backward_and_check(shape, 0);
}

static void run_backward_misaligned(const long *shape)
{
    backward_and_check(shape, 4);
}

/* A NaN in grad_y is in all of its row of grad_x, and in both sums of its column; nowhere else. */
static void run_backward_nan(const long *shape)
{
    gradients g = inputs(AROUND_0, shape[0], shape[1]);
    float *grad_y = random_f32((size_t)(g.rows * g.cols));
    const long at = (long)random_below(case_random(), (uint64_t)(g.rows * g.cols));
    grad_y[at] = NAN;
    g.grad_y = grad_y;
    call_backward("layernorm_backward", &g, 0);
    expect_columns(&g);
    expect_grad_x(&g);
}

static void run_same_bits(const long *shape)
{
    const gradients g = inputs(AROUND_0, shape[0], shape[1]);
    const size_t cols = (size_t)g.cols;
    float *gamma = f32_array(cols), *beta = f32_array(cols);
    for (int i = 0; i < 4; i++) {
        call_backward("layernorm_backward", &g, 0);
        if (i == 0) expect_columns(&g);
        for (size_t c = 0; c < cols && i > 0; c++) {
            expect(
                gamma[c] == g.grad_gamma[c] && beta[c] == g.grad_beta[c],
                "column %zu: grad_gamma was %.9g and is %.9g, grad_beta was %.9g and is %.9g for "
                "the same input: the order of additions changes",
                c, gamma[c], g.grad_gamma[c], beta[c], g.grad_beta[c]);
        }
        memcpy(gamma, g.grad_gamma, cols * sizeof *gamma);
        memcpy(beta, g.grad_beta, cols * sizeof *beta);
    }
}

/* Sum of grad_y * y over one row, when its element `at` is moved by `step`. */
static double loss(const gradients *g, long row, long at, double step)
{
    const double n = (double)g->cols;
    double sum = step, squares = 0.0, total = 0.0;
    for (long i = row * g->cols; i < (row + 1) * g->cols; i++) sum += g->x[i];
    for (long i = row * g->cols; i < (row + 1) * g->cols; i++) {
        const double distance = g->x[i] + (i == at ? step : 0.0) - sum / n;
        squares += distance * distance;
        total += (double)g->grad_y[i] * g->gamma[i % g->cols] * distance;
    }
    return total / sqrt(squares / n + norm_eps);
}

static void run_central_differences(const long *shape)
{
    const gradients g = inputs(AROUND_0, shape[0], shape[1]);
    call_backward("layernorm_backward", &g, 0);
    for (int s = 0; s < SAMPLES; s++) {
        const long at = (long)random_below(case_random(), (uint64_t)(g.rows * g.cols));
        const long row = at / g.cols;
        const double slope = (loss(&g, row, at, 1e-4) - loss(&g, row, at, -1e-4)) / 2e-4;
        expect(fabs(g.grad_x[at] - slope) <= 1e-4 * fmax(1.0, fabs(slope)),
               "grad_x[%ld] is %.9g, central differences say %.9g", at, g.grad_x[at], slope);
    }
}

static void run_timed_backward(const char *function, const long *shape)
{
    const gradients g = inputs(AROUND_0, shape[0], shape[1]);
    call_backward(function, &g, 0);
    if (is_baseline(function)) return;
    expect_columns(&g);
    const int *some = sampled_rows(SAMPLED_ROWS, g.rows);
    gradients few = g;
    few.rows = SAMPLED_ROWS;
    few.x = rows_of(g.x, g.cols, some, SAMPLED_ROWS);
    few.grad_y = rows_of(g.grad_y, g.cols, some, SAMPLED_ROWS);
    few.grad_x = rows_of(g.grad_x, g.cols, some, SAMPLED_ROWS);
    few.mean = rows_of(g.mean, 1, some, SAMPLED_ROWS);
    few.rstd = rows_of(g.rstd, 1, some, SAMPLED_ROWS);
    expect_grad_x(&few);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const grading_case cases[] = {
    {.name = "forward 3x1", .run = run_forward, .shape = {3, 1}},
    {.name = "forward 17x32", .run = run_forward, .shape = {17, 32}},
    {.name = "forward 9x33", .run = run_forward, .shape = {9, 33}},
    {.name = "forward 5x320", .run = run_forward, .shape = {5, 320}},
    {.name = "forward 4x768", .run = run_forward, .shape = {4, 768}},
    {.name = "forward 3x1025", .run = run_forward, .shape = {3, 1025}},
    {.name = "forward any", .run = run_forward, .shape = {1, 1}, .most = {40, 3000}},
    {.name = "forward 2x4097", .run = run_forward, .shape = {2, 4097}},
    {.name = "forward 2x9001", .run = run_forward, .shape = {2, 9001}},
    {.name = "forward 1x65536", .run = run_forward, .shape = {1, 65536}, .once = true},
    {.name = "forward 70001x3", .run = run_forward, .shape = {70001, 3}, .once = true},
    {.name = "forward 0x7", .run = run_forward, .shape = {0, 7}},
    {.name = "forward 7x0", .run = run_no_columns, .shape = {7}},
    {.name = "forward around 10000, 6x768", .run = run_forward, .shape = {6, 768, AROUND_10000}},
    {.name = "forward of equal values, 4x70", .run = run_forward, .shape = {4, 70, EQUAL}},
    {.name = "forward of tiny values, 9x301", .run = run_forward, .shape = {9, 301, TINY}},
    {.name = "forward with a nan, 6x263", .run = run_forward, .shape = {6, 263, WITH_NAN}},
    {.name = "forward with infinity, 5x260", .run = run_forward, .shape = {5, 260, WITH_INFINITY}},
    {.name = "forward, misaligned", .run = run_forward_misaligned, .shape = {5, 256}},
    {.name = "backward 3x1", .run = run_backward, .shape = {3, 1}, .part = "layernorm_backward"},
    {.name = "backward 17x32", .run = run_backward, .shape = {17, 32}},
    {.name = "backward 9x33", .run = run_backward, .shape = {9, 33}},
    {.name = "backward 301x40", .run = run_backward, .shape = {301, 40}},
    {.name = "backward 3x1025", .run = run_backward, .shape = {3, 1025}},
    {.name = "backward any", .run = run_backward, .shape = {1, 1}, .most = {90, 1500}},
    {.name = "backward 2x4097", .run = run_backward, .shape = {2, 4097}},
    {.name = "backward 1x65536", .run = run_backward, .shape = {1, 65536}, .once = true},
    {.name = "backward 531x4001", .run = run_backward, .shape = {531, 4001}, .once = true},
    {.name = "backward 70001x3", .run = run_backward, .shape = {70001, 3}, .once = true},
    {.name = "backward 0x7", .run = run_backward, .shape = {0, 7}},
    {.name = "backward around 10000, 6x768", .run = run_backward, .shape = {6, 768, AROUND_10000}},
    {.name = "backward of equal values, 4x70", .run = run_backward, .shape = {4, 70, EQUAL}},
    {.name = "backward of tiny values, 9x301", .run = run_backward, .shape = {9, 301, TINY}},
    {.name = "backward with a nan, 6x63", .run = run_backward_nan, .shape = {6, 63}},
    {.name = "backward, misaligned", .run = run_backward_misaligned, .shape = {5, 256}},
    {.name = "central differences", .run = run_central_differences, .shape = {5, 37}},
    {.name = "the same bits every time", .run = run_same_bits, .shape = {1500, 40}},
    {.name = "forward 1000003x7",
     .run = run_forward,
     .shape = {1000003, 7},
     .where = ON_GPU,
     .once = true,
     .part = "layernorm_forward"},
    {.name = "backward 1000003x7",
     .run = run_backward,
     .shape = {1000003, 7},
     .where = ON_GPU,
     .once = true,
     .part = "layernorm_backward"},
    GPU_ROW("backward 5003x768", run_backward, 5003, 768),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one thread per row", .shape = "8192 × 2048"},
     .function = "layernorm_forward",
     .baseline = "baseline_layernorm_forward",
     .run = run_timed_forward,
     .shape = {8192, 2048},
     .where = ON_GPU,
     .threshold = 5.0,
     .bytes = 8.0 * 8192 * 2048,
     .peer_share = 0.02,
     .peer_bytes = 8.0 * 8192 * 2048},
    {.metric = {"speedup", .over = "one thread per row and per column", .shape = "16384 × 512"},
     .function = "layernorm_backward",
     .baseline = "baseline_layernorm_backward",
     .run = run_timed_backward,
     .shape = {16384, 512},
     .where = ON_GPU,
     .threshold = 5.0,
     .bytes = 12.0 * 16384 * 512,
     .peer_share = 0.01,
     .peer_bytes = 12.0 * 16384 * 512},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "64 × 512"},
     .function = "layernorm_forward",
     .run = run_timed_forward,
     .shape = {64, 512},
     .count = moved_bytes,
     .ideal = 8.0 * 64 * 512,
     .bound = AT_MOST,
     .wanted = 3.3,
     .begin = 16.252},
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "256 × 128"},
     .function = "layernorm_backward",
     .run = run_timed_backward,
     .shape = {256, 128},
     .count = moved_bytes,
     .ideal = 12.0 * 256 * 128,
     .bound = AT_MOST,
     .wanted = 4.0,
     .begin = 8.424},
    {.metric = {"reduction in instructions", .per = "warp",
                .over = "one thread per row and per column", .shape = "2048 × 64"},
     .function = "layernorm_backward",
     .baseline = "baseline_layernorm_backward",
     .run = run_timed_backward,
     .shape = {2048, 64},
     .count = instructions_per_warp,
     .bound = AT_LEAST,
     .wanted = 5.0},
    {0},
};

EXERCISE(311) = {
    .id = 311,
    .core = true,
    .name = "layernorm",
    .file = "phase3_layers/311_layernorm/311_layernorm.cu",
    .functions = {"layernorm_forward", "layernorm_backward"},
    .baseline_file = "grader/exercises/311_layernorm/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "forward 5x320",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
