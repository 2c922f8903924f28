/* 302_bias: a bias on every row; its gradient, sums of columns with the same bits every time. */
#include "exercises/shared/layer_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const float *ones(size_t n)
{
    float *x = f32_array(n);
    for (size_t i = 0; i < n; i++) x[i] = 1.0f;
    return x;
}

/* Right results may hide that several blocks, or all of them, do the same rows. */
static void expect_stores(size_t size)
{
    const device_counts *c = call_counts();
    expect(!c || c->global_store.bytes <= size * sizeof(float),
           "y has %zu elements, and %llu bytes are stored: threads do the same elements. A loop "
           "down the rows begins at another row in each block and steps by the rows of all blocks, "
           "gridDim.y * blockDim.y",
           size, (unsigned long long)c->global_store.bytes);
}

/* shape: rows, cols, in place, of each input how many are NaN and how many infinite */
static void forward(const long *shape)
{
    const size_t rows = (size_t)shape[0], cols = (size_t)shape[1], size = rows * cols;
    float *x = random_f32(size), *bias = random_f32(cols), *y = f32_array(size);
    double *want = f64_array(size);
    sprinkle_special_f32(x, size, (int)shape[3]);
    sprinkle_special_f32(bias, cols, (int)shape[3]);
    for (size_t i = 0; i < size; i++) want[i] = (double)x[i] + bias[i % cols];
    argument in = in_f32("x", x, size);
    argument out = out_f32("y", y, size);
    if (shape[2]) {
        memcpy(y, x, size * sizeof *y);
        in = same_as(0);
        out = inout_f32("y", y, size);
    }
    call_counted("bias_forward", ARGS(out, in, in_f32("bias", bias, cols), i32((int)rows),
                                      i32((int)cols), stream()));
    const layout l = {"y", rows, cols};
    if (!is_close(l, y, want, NULL, 1e-6)) suspect_bias(want, bias, rows, cols);
    expect_close(l, y, want, NULL, 1e-6);
    expect_stores(size);
}

typedef struct columns {
    const float *x; /* [rows x cols] */
    size_t rows, cols;
    double *sum, *absolute; /* [cols] */
} columns;

static void add_columns(size_t begin, size_t end, void *context)
{
    const columns *s = context;
    for (size_t r = 0; r < s->rows; r++) {
        const float *row = s->x + r * s->cols;
        for (size_t c = begin; c < end; c++) s->sum[c] += row[c];
        for (size_t c = begin; c < end; c++) s->absolute[c] += fabs(row[c]);
    }
}

/* How often is a row in its sums? A call with a single 1 in each column says it. */
static void suspect_count(const float *sums, size_t rows, size_t cols)
{
    static char words[80];
    float *grad_y = f32_array(rows * cols), *times = f32_array(cols);
    double *got = f64_array(cols);
    size_t c = 0;
    if (rows == 0) return;
    const int *row = random_i32(cols, 0, (int)rows);
    for (size_t i = 0; i < cols; i++) grad_y[(size_t)row[i] * cols + i] = 1.0f, got[i] = sums[i];
    call_cuda("bias_backward",
              ARGS(out_f32("grad_bias", times, cols), in_f32("grad_y", grad_y, rows * cols),
                   i32((int)rows), i32((int)cols), stream()));
    while (c < cols && times[c] == 1.0f) c++;
    if (c == cols) return;
    snprintf(words, sizeof words, "row %d is %g times in the sum of column %zu", row[c], times[c],
             c);
    suspect(words, got);
}

/* One call with x, whose result is left in grad_bias. Serves the speed tests too. */
static void sum_columns(const char *function, float *grad_bias, const float *grad_y, size_t rows,
                        size_t cols)
{
    const bool sums = strcmp(function, "baseline_read") != 0;
    double *want = f64_array(cols), *absolute = f64_array(cols);
    if (sums) parallel(cols, rows, add_columns, &(columns){grad_y, rows, cols, want, absolute});
    call_cuda(function,
              ARGS(out_f32("grad_bias", grad_bias, cols), in_f32("grad_y", grad_y, rows * cols),
                   i32((int)rows), i32((int)cols), stream()));
    if (!sums) return;
    const layout l = {"grad_bias", 1, cols};
    if (!is_close(l, grad_bias, want, absolute, FP32_SUM_TOLERANCE)) {
        suspect_product(grad_bias, ones(rows), grad_y, 1, (long)cols, (long)rows);
        suspect_count(grad_bias, rows, cols);
    }
    expect_close(l, grad_bias, want, absolute, FP32_SUM_TOLERANCE);
}

static void timed_backward(const char *function, const long *shape)
{
    const size_t rows = (size_t)shape[0], cols = (size_t)shape[1];
    float *grad_y = random_f32(rows * cols);
    sprinkle_special_f32(grad_y, rows * cols, (int)shape[2]);
    sum_columns(function, f32_array(cols), grad_y, rows, cols);
}

static void backward(const long *shape)
{
    timed_backward("bias_backward", shape);
}

static void backward_same_bits(const long *shape)
{
    const size_t rows = (size_t)shape[0], cols = (size_t)shape[1];
    const float *grad_y = random_f32(rows * cols);
    float *first = f32_array(cols), *again = f32_array(cols);
    sum_columns("bias_backward", first, grad_y, rows, cols);
    for (int i = 0; i < 4; i++) {
        sum_columns("bias_backward", again, grad_y, rows, cols);
        for (size_t c = 0; c < cols; c++) {
            expect(again[c] == first[c],
                   "grad_bias[%zu] was %.9g and is %.9g for the same input: the order of additions "
                   "changes",
                   c, first[c], again[c]);
        }
    }
}

static const grading_case cases[] = {
    {.name = "forward 0x5", .run = forward, .shape = {0, 5}},
    {.name = "forward 5x0", .run = forward, .shape = {5, 0}},
    {.name = "forward 1x1", .run = forward, .shape = {1, 1}},
    {.name = "forward 17x33", .run = forward, .shape = {17, 33}},
    {.name = "forward 33x17", .run = forward, .shape = {33, 17}},
    {.name = "forward 64x128", .run = forward, .shape = {64, 128}},
    {.name = "forward 1000x10", .run = forward, .shape = {1000, 10}},
    {.name = "forward 3x4097", .run = forward, .shape = {3, 4097}},
    {.name = "forward any shape", .run = forward, .shape = {1, 1}, .most = {90, 900}},
    {.name = "forward 70000x1", .run = forward, .shape = {70000, 1}},
    {.name = "forward 1x70000", .run = forward, .shape = {1, 70000}},
    {.name = "forward in place", .run = forward, .shape = {17, 33, true}},
    {.name = "forward with NaN", .run = forward, .shape = {17, 33, false, 2}},
    GPU_ROW("forward 1100000x33", forward, 1100000, 33),
    {.name = "backward 0x5", .run = backward, .shape = {0, 5}, .part = "bias_backward"},
    {.name = "backward 5x0", .run = backward, .shape = {5, 0}},
    {.name = "backward 1x1", .run = backward, .shape = {1, 1}},
    {.name = "backward 17x33", .run = backward, .shape = {17, 33}},
    {.name = "backward 33x17", .run = backward, .shape = {33, 17}},
    {.name = "backward 64x128", .run = backward, .shape = {64, 128}},
    {.name = "backward 1000x10", .run = backward, .shape = {1000, 10}},
    {.name = "backward 5x4097", .run = backward, .shape = {5, 4097}},
    {.name = "backward any shape", .run = backward, .shape = {1, 1}, .most = {900, 90}},
    {.name = "backward 70000x1", .run = backward, .shape = {70000, 1}},
    {.name = "backward 1x70000", .run = backward, .shape = {1, 70000}},
    {.name = "backward with NaN", .run = backward, .shape = {70, 33, 2}},
    {.name = "backward 263000x65", .run = backward, .shape = {263000, 65}, .once = true},
    GPU_ROW("backward 1100000x33", backward, 1100000, 33),
    {.name = "backward, the same bits every time", .run = backward_same_bits, .shape = {5000, 40}},
    {0},
};

/* No ceiling on bytes: reading alone can be faster than the copy that the ceiling is made of. */
static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one thread per column", .shape = "65536 × 512"},
     .function = "bias_backward",
     .baseline = "baseline_bias_backward",
     .run = timed_backward,
     .shape = {65536, 512},
     .where = ON_GPU,
     .threshold = 5.0,
     .peer_share = 0.0048,
     .peer_bytes = 4.0 * 65536 * 512},
    {.metric = {"bandwidth", .relative_to = "plain read", .shape = "65536 × 512"},
     .function = "bias_backward",
     .baseline = "baseline_read",
     .run = timed_backward,
     .shape = {65536, 512},
     .where = ON_GPU,
     .threshold = 0.6,
     .begin = 0.007,     /* one thread per column: tests.tsv */
     .peer_share = 0.83, /* that of 208's */
     .peer_bytes = 4.0 * 65536 * 512},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "4096 × 256"},
     .function = "bias_backward",
     .run = timed_backward,
     .shape = {4096, 256},
     .count = moved_bytes,
     .ideal = 4.0 * (4096 * 256 + 256),
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 8.062},
    {.metric = {"reduction in instructions", .per = "warp", .over = "one thread per column",
                .shape = "4096 × 256"},
     .function = "bias_backward",
     .baseline = "baseline_bias_backward",
     .run = timed_backward,
     .shape = {4096, 256},
     .count = instructions_per_warp,
     .bound = AT_LEAST,
     .wanted = 5.0},
    {.metric = {"reduction in instructions", .per = "warp", .over = "one thread per column",
                .shape = "16384 × 64"},
     .function = "bias_backward",
     .baseline = "baseline_bias_backward",
     .run = timed_backward,
     .shape = {16384, 64},
     .count = instructions_per_warp,
     .bound = AT_LEAST,
     .wanted = 30.0},
    {0},
};

EXERCISE(302) = {
    .id = 302,
    .core = true,
    .name = "bias",
    .file = "phase3_layers/302_bias/302_bias.cu",
    .functions = {"bias_forward", "bias_backward"},
    .baseline_file = "grader/exercises/302_bias/baseline.cu",
    .points = 5,
    .speed_points = 5,
    .see = "forward 17x33",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
