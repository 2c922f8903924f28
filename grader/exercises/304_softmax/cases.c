/* 304_softmax: rows of any length and in any number, masked entries, large values; the gradient;
 * speed against a thread per row. shape: rows, cols */
#include "exercises/shared/layer_cases.h"

#include <math.h>

#define SAMPLED_ROWS 200 /* of a timed call */

static void forward(const char *function, float *y, const float *x, long rows, long cols)
{
    const size_t size = (size_t)(rows * cols);
    call_cuda(function, ARGS(out_f32("y", y, size), in_f32("x", x, size), i32((int)rows),
                             i32((int)cols), stream()));
}

static void suspect_columns(const float *x, long rows, long cols)
{
    double *wrong = f64_array((size_t)(rows * cols)), *turned = f64_array((size_t)(rows * cols));
    reference_softmax(turned, transposed(x, rows, cols), cols, rows);
    for (long i = 0; i < rows * cols; i++) wrong[i] = turned[i % cols * rows + i / cols];
    suspect("the softmax is over each column, not over each row", wrong);
}

static void expect_softmax(const float *y, const float *x, long rows, long cols)
{
    double *want = f64_array((size_t)(rows * cols));
    reference_softmax(want, x, rows, cols);
    const layout l = {"y", (size_t)rows, (size_t)cols};
    const double *scale = softmax_scale(want, x, rows, cols);
    if (!is_close(l, y, want, scale, FP32_NORM_TOLERANCE)) {
        suspect_softmax(want, x, rows, cols);
        suspect_columns(x, rows, cols);
    }
    expect_close(l, y, want, scale, FP32_NORM_TOLERANCE);
}

static void forward_and_check(const float *x, long rows, long cols)
{
    float *y = f32_array((size_t)(rows * cols));
    forward("softmax_forward", y, x, rows, cols);
    expect_softmax(y, x, rows, cols);
}

static void run_forward(const long *shape)
{
    const float *x = random_f32_between((size_t)(shape[0] * shape[1]), -4.0f, 4.0f);
    forward_and_check(x, shape[0], shape[1]);
}

static void run_large_values(const long *shape)
{
    const float *x = random_f32_between((size_t)(shape[0] * shape[1]), -1e4f, 1e4f);
    forward_and_check(x, shape[0], shape[1]);
}

static void run_all_negative(const long *shape)
{
    const float *x = random_f32_between((size_t)(shape[0] * shape[1]), -10004.0f, -9996.0f);
    forward_and_check(x, shape[0], shape[1]);
}

static void run_equal(const long *shape)
{
    float *x = f32_array((size_t)(shape[0] * shape[1]));
    for (long i = 0; i < shape[0] * shape[1]; i++) x[i] = 88.0f * (float)(1 + i / shape[1]);
    forward_and_check(x, shape[0], shape[1]);
}

/* A third of all entries is masked, in the second row all but the last one. */
static void run_masked(const long *shape)
{
    const long rows = shape[0], cols = shape[1];
    float *x = random_f32_between((size_t)(rows * cols), -4.0f, 4.0f);
    sprinkle_f32(x, (size_t)(rows * cols), -INFINITY, (int)(rows * cols / 3));
    for (long c = 0; c < cols - 1; c++) x[cols + c] = -INFINITY;
    x[2 * cols - 1] = -3.0f;
    forward_and_check(x, rows, cols);
}

static void run_masked_row(const long *shape)
{
    const long rows = shape[0], cols = shape[1];
    float *x = random_f32_between((size_t)(rows * cols), -4.0f, 4.0f);
    const long row = (long)random_below(case_random(), (uint64_t)rows);
    for (long c = 0; c < cols; c++) x[row * cols + c] = -INFINITY;
    forward_and_check(x, rows, cols);
}

/* A NaN must not hide, and must not leave its row. The others of its row are numbers, -infinity or
 * NaN as well. shape: rows, cols, which of them */
static void run_nan(const long *shape)
{
    static const float others[] = {0.0f, -INFINITY, NAN};
    const long rows = shape[0], cols = shape[1];
    float *x = random_f32(((size_t)(rows * cols))), *y = f32_array((size_t)(rows * cols));
    const long row = (long)random_below(case_random(), (uint64_t)rows);
    for (long c = 0; c < cols && shape[2]; c++) x[row * cols + c] = others[shape[2]];
    x[row * cols + (long)random_below(case_random(), (uint64_t)cols)] = NAN;
    forward("softmax_forward", y, x, rows, cols);
    for (long i = 0; i < rows * cols; i++) {
        if (i / cols == row)
            expect(isnan(y[i]), "a NaN in x[%ld] is lost in y[%ld]", row, row);
        else
            expect(isfinite(y[i]), "y[%ld][%ld] is %g, its row is finite", i / cols, i % cols,
                   y[i]);
    }
}

static void backward_and_check(const float *grad_y, const float *y, long rows, long cols)
{
    const size_t size = (size_t)(rows * cols);
    float *grad_x = f32_array(size);
    double *want = f64_array(size), *scale = f64_array(size), *no_dot = f64_array(size);
    double *plain = f64_array(size);
    call_cuda("softmax_backward",
              ARGS(out_f32("grad_x", grad_x, size), in_f32("grad_y", grad_y, size),
                   in_f32("y", y, size), i32((int)rows), i32((int)cols), stream()));
    for (long r = 0; r < rows; r++) {
        double dot = 0.0, absolute = 0.0;
        for (long i = r * cols; i < (r + 1) * cols; i++) {
            dot += (double)grad_y[i] * y[i];
            absolute += fabs((double)grad_y[i] * y[i]);
        }
        for (long i = r * cols; i < (r + 1) * cols; i++) {
            want[i] = y[i] * (grad_y[i] - dot);
            scale[i] = y[i] * (fabs(grad_y[i]) + absolute) + 1e-32;
            no_dot[i] = y[i] * (1 - y[i]) * grad_y[i];
            plain[i] = y[i] * (double)grad_y[i];
        }
    }
    const layout l = {"grad_x", (size_t)rows, (size_t)cols};
    if (!is_close(l, grad_x, want, scale, FP32_SUM_TOLERANCE)) {
        suspect("the row's sum of y grad_y is not subtracted", plain);
        suspect(
            "y (1 - y) grad_y is not the whole gradient: the other entries of the row take part",
            no_dot);
    }
    expect_close(l, grad_x, want, scale, FP32_SUM_TOLERANCE);
}

/* @return [rows x cols] in which every row is a softmax, peaked where spread is large */
static float *random_softmax(long rows, long cols, float spread)
{
    const size_t size = (size_t)(rows * cols);
    const float *x = random_f32_between(size, -spread, spread);
    double *exact = f64_array(size);
    float *y = f32_array(size);
    reference_softmax(exact, x, rows, cols);
    for (size_t i = 0; i < size; i++) y[i] = (float)exact[i];
    return y;
}

static void run_backward(const long *shape)
{
    const float *y = random_softmax(shape[0], shape[1], 2.0f);
    backward_and_check(random_f32((size_t)(shape[0] * shape[1])), y, shape[0], shape[1]);
}

/* Of grad_y: its row is NaN, or infinite. No weight is 0. */
static void run_backward_nan(const long *shape)
{
    const size_t size = (size_t)(shape[0] * shape[1]);
    float *grad_y = random_f32(size);
    sprinkle_special_f32(grad_y, size, 1);
    backward_and_check(grad_y, random_softmax(shape[0], shape[1], 2.0f), shape[0], shape[1]);
}

/* Nearly all of the weight on one entry: the gradient all but vanishes. */
static void run_backward_peaked(const long *shape)
{
    const float *y = random_softmax(shape[0], shape[1], 60.0f);
    backward_and_check(random_f32((size_t)(shape[0] * shape[1])), y, shape[0], shape[1]);
}

static void run_timed(const char *function, const long *shape)
{
    const long rows = shape[0], cols = shape[1];
    const float *x = random_f32_between((size_t)(rows * cols), -4.0f, 4.0f);
    const int *some = sampled_rows(SAMPLED_ROWS, rows);
    float *y = f32_array((size_t)(rows * cols));
    forward(function, y, x, rows, cols);
    expect_softmax(rows_of(y, cols, some, SAMPLED_ROWS), rows_of(x, cols, some, SAMPLED_ROWS),
                   SAMPLED_ROWS, cols);
}

static const grading_case cases[] = {
    {.name = "forward_3x1", .run = run_forward, .shape = {3, 1}},
    {.name = "forward_64x10", .run = run_forward, .shape = {64, 10}},
    {.name = "forward_17x33", .run = run_forward, .shape = {17, 33}},
    {.name = "forward_3x1024", .run = run_forward, .shape = {3, 1024}},
    {.name = "forward_2x1025", .run = run_forward, .shape = {2, 1025}},
    {.name = "forward_5x3001", .run = run_forward, .shape = {5, 3001}},
    {.name = "forward_2x131072", .run = run_forward, .shape = {2, 131072}},
    {.name = "forward_any_shape", .run = run_forward, .shape = {1, 1}, .most = {9, 4000}},
    {.name = "forward_large_values_any_shape",
     .run = run_large_values,
     .shape = {1, 601},
     .most = {5, 4000}},
    {.name = "forward_masked_any_shape", .run = run_masked, .shape = {2, 601}, .most = {5, 4000}},
    {.name = "forward_empty", .run = run_forward, .shape = {0, 7}},
    {.name = "forward_no_columns", .run = run_forward, .shape = {7, 0}},
    LONG_ROW("forward_many_rows", run_forward, 65537, 2),
    {.name = "forward_large_values", .run = run_large_values, .shape = {9, 301}},
    {.name = "forward_all_negative", .run = run_all_negative, .shape = {9, 301}},
    {.name = "forward_equal", .run = run_equal, .shape = {7, 257}},
    {.name = "forward_masked", .run = run_masked, .shape = {9, 517}},
    {.name = "forward_masked_row", .run = run_masked_row, .shape = {6, 259}},
    {.name = "forward_nan", .run = run_nan, .shape = {6, 263}},
    {.name = "forward_nan_among_masked", .run = run_nan, .shape = {5, 261, 1}},
    {.name = "forward_row_of_nan", .run = run_nan, .shape = {4, 70, 2}},
    {.name = "backward_3x1", .run = run_backward, .shape = {3, 1}, .part = "softmax_backward"},
    {.name = "backward_64x10", .run = run_backward, .shape = {64, 10}},
    {.name = "backward_17x33", .run = run_backward, .shape = {17, 33}},
    {.name = "backward_5x3001", .run = run_backward, .shape = {5, 3001}},
    {.name = "backward_2x131072", .run = run_backward, .shape = {2, 131072}},
    {.name = "backward_any_shape", .run = run_backward, .shape = {1, 1}, .most = {9, 4000}},
    {.name = "backward_empty", .run = run_backward, .shape = {0, 7}},
    {.name = "backward_no_columns", .run = run_backward, .shape = {7, 0}},
    LONG_ROW("backward_many_rows", run_backward, 65537, 2),
    {.name = "backward_nan", .run = run_backward_nan, .shape = {9, 263}},
    {.name = "backward_peaked", .run = run_backward_peaked, .shape = {11, 97}},
    {.name = "forward_70001x131",
     .run = run_forward,
     .shape = {70001, 131},
     .where = ON_GPU,
     .once = true,
     .part = "softmax_forward"},
    {.name = "backward_70001x131",
     .run = run_backward,
     .shape = {70001, 131},
     .where = ON_GPU,
     .once = true,
     .part = "softmax_backward"},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one thread per row", .shape = "8192 rows of 2048"},
     .function = "softmax_forward",
     .baseline = "baseline_softmax_forward",
     .run = run_timed,
     .shape = {8192, 2048},
     .where = ON_GPU,
     .threshold = 3.0,
     .bytes = 8.0 * 8192 * 2048,
     .peer_share = 0.045,
     .peer_bytes = 8.0 * 8192 * 2048},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"reduction in DRAM bytes", .over = "one thread per row",
                .shape = "256 rows of 512"},
     .function = "softmax_forward",
     .baseline = "baseline_softmax_forward",
     .run = run_timed,
     .shape = {256, 512},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 6.0},
    {0},
};

EXERCISE(304) = {
    .id = 304,
    .core = true,
    .name = "softmax",
    .file = "phase3_layers/304_softmax/304_softmax.cu",
    .functions = {"softmax_forward", "softmax_backward"},
    .baseline_file = "grader/exercises/304_softmax/baseline.cu",
    .exponentials = true,
    .masks = true,
    .points = 10,
    .speed_points = 5,
    .see = "forward_17x33",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
