/* 208_reduce: sums and maxima of anything, also of nothing, of infinities and of NaN; sums of
 * rows. */
#include "correctness/case.h"

#include <math.h>

static const float *ones(size_t n)
{
    float *x = f32_array(n);
    for (size_t i = 0; i < n; i++) x[i] = 1.0f;
    return x;
}

/* The sums of rows of x in double, and the sums of their absolute values; the last row may end
 * early. */
typedef struct row_sums {
    const float *x;
    size_t size, cols;
    double *sum, *absolute;
} row_sums;

static void sum_rows(size_t begin, size_t end, void *context)
{
    const row_sums *s = context;
    for (size_t r = begin; r < end; r++) {
        const size_t left = s->size - r * s->cols, n = left < s->cols ? left : s->cols;
        const float *row = s->x + r * s->cols;
        double sum = 0.0, absolute = 0.0;
        for (size_t i = 0; i < n; i++) {
            sum += row[i];
            absolute += fabs(row[i]);
        }
        s->sum[r] = sum;
        s->absolute[r] = absolute;
    }
}

#define BLOCK ((size_t)1 << 16)

static double sum_of(const float *x, size_t n, double *absolute)
{
    const size_t blocks = (n + BLOCK - 1) / BLOCK;
    row_sums s = {x, n, BLOCK, f64_array(blocks), f64_array(blocks)};
    double sum = *absolute = 0.0;
    parallel(blocks, BLOCK, sum_rows, &s);
    for (size_t i = 0; i < blocks; i++) {
        sum += s.sum[i];
        *absolute += s.absolute[i];
    }
    return sum;
}

/* What is left of n to be folded on the host: a number a block, but not most of them. */
static void expect_folded(const char *function, double n)
{
    const device_counts *c = call_counts();
    if (!c) return;
    expect((double)c->to_host.bytes <= n + 8192,
           "%s: of %.0f bytes %llu went to the host: its work belongs on the device", function,
           4 * n, (unsigned long long)c->to_host.bytes);
}

/* At most: an atomic operation of a warp on shared memory may be one of a single lane. */
static double additions_of(const device_counts *c)
{
    const double atomics =
        (double)c->global_atomic.bytes / 4 + 32.0 * (double)c->shared_atomic.requests;
    return operations(c) + atomics;
}

/* The same of sums, where the device's additions say it, whichever way the numbers went. */
static void expect_added(const char *function, double n, double results)
{
    const device_counts *c = call_counts();
    const double additions = 0.75 * (n - results) - 2048;
    expect_folded(function, n);
    expect(!c || additions_of(c) >= additions,
           "%s: kernels made %.0f additions for %.0f numbers: its work belongs on the device",
           function, additions_of(c), n);
}

static void check_sum(const char *function, const float *x, size_t n, unsigned shift)
{
    float out;
    double absolute, want = sum_of(x, n, &absolute);
    call_counted(function, ARGS(out_f32("out", &out, 1), shifted(in_f32("in", x, n), shift), u64(n),
                                stream()));
    expect_close((layout){"out", 1, 1}, &out, &want, &absolute, FP32_SUM_TOLERANCE);
    expect_added(function, (double)n, 1);
}

/* shape: n, bytes by which the input is shifted. */
static void sum(const long *shape)
{
    const size_t n = (size_t)shape[0];
    check_sum("reduce_sum", random_f32(n), n, (unsigned)shape[1]);
}

static void sum_again(const long *shape)
{
    for (int i = 0; i < 3; i++) sum(shape);
}

/* shape: n, the largest magnitude. */
static void sum_large(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float top = (float)shape[1];
    check_sum("reduce_sum", random_f32_between(n, -top, top), n, 0);
}

static void sum_nan(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *x = random_f32(n);
    sprinkle_f32(x, n, NAN, 1);
    check_sum("reduce_sum", x, n, 0);
}

/* shape: n, infinities of each sign */
static void sum_infinite(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *x = random_f32(n);
    x[0] = INFINITY;
    x[n / 2] = shape[1] ? -INFINITY : INFINITY;
    check_sum("reduce_sum", x, n, 0);
}

static void check_max(const float *x, size_t n)
{
    float out;
    double want = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (x[i] > want || isnan(x[i])) want = x[i]; /* nothing is larger than a NaN */
    }
    call_cuda("reduce_max", ARGS(out_f32("out", &out, 1), in_f32("in", x, n), u64(n), stream()));
    const layout l = {"out", 1, 1};
    if (!is_close(l, &out, &want, NULL, 0.0)) {
        double *from_0 = f64_array(1);
        *from_0 = fmax(want, 0.0);
        suspect("the maximum starts at 0", from_0);
    }
    expect_close(l, &out, &want, NULL, 0.0);
    expect_folded("reduce_max", (double)n);
}

/* shape: n, low, high. */
static void max(const long *shape)
{
    const size_t n = (size_t)shape[0];
    check_max(random_f32_between(n, (float)shape[1], (float)shape[2]), n);
}

static void max_infinite(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *x = f32_array(n);
    for (size_t i = 0; i < n; i++) x[i] = -INFINITY;
    check_max(x, n);
    sprinkle_f32(x, n, -1e30f, 1);
    check_max(x, n);
    sprinkle_f32(x, n, INFINITY, 1);
    check_max(x, n);
}

/* A NaN in first place, in last place, anywhere, and beside infinity. */
static void max_nan(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *x = random_f32(n);
    const float first = x[0], last = x[n - 1];
    x[0] = NAN;
    check_max(x, n);
    x[0] = first;
    x[n - 1] = NAN;
    check_max(x, n);
    x[n - 1] = last;
    sprinkle_f32(x, n, INFINITY, 3);
    sprinkle_f32(x, n, -NAN, 1); /* as integers, it is below -infinity */
    check_max(x, n);
}

/* shape: rows, cols, NaN and infinities. Serves the speed test too. */
static void check_rows(const char *function, const long *shape)
{
    const size_t rows = (size_t)shape[0], cols = (size_t)shape[1];
    float *x = random_f32(rows * cols), *out = f32_array(rows);
    sprinkle_special_f32(x, rows * cols, (int)shape[2]);
    double *want = f64_array(rows), *absolute = f64_array(rows);
    parallel(rows, cols, sum_rows, &(row_sums){x, rows * cols, cols, want, absolute});
    call_counted(function, ARGS(out_f32("out", out, rows), in_f32("in", x, rows * cols),
                                i32((int)rows), i32((int)cols), stream()));
    const layout l = {"out", 1, rows};
    if (!is_close(l, out, want, absolute, FP32_SUM_TOLERANCE)) {
        suspect_product(out, x, ones(cols), (long)rows, 1, (long)cols);
    }
    expect_close(l, out, want, absolute, FP32_SUM_TOLERANCE);
    expect_added(function, (double)(rows * cols), (double)rows);
}

static void rows(const long *shape)
{
    check_rows("row_sum", shape);
}

static const grading_case cases[] = {
    {.name = "sum n=0", .run = sum, .shape = {0}},
    {.name = "sum n=1", .run = sum, .shape = {1}},
    {.name = "sum n=31", .run = sum, .shape = {31}},
    {.name = "sum n=32", .run = sum, .shape = {32}},
    {.name = "sum n=33", .run = sum, .shape = {33}},
    {.name = "sum n=255", .run = sum, .shape = {255}},
    {.name = "sum n=256", .run = sum, .shape = {256}},
    {.name = "sum n=257", .run = sum, .shape = {257}},
    {.name = "sum n=1025", .run = sum, .shape = {1025}},
    {.name = "sum any n", .run = sum, .shape = {2}, .most = {90000}},
    {.name = "sum n=1000003", .run = sum, .shape = {1000003}},
    GPU_ROW("sum n=2^26+1", sum, (1L << 26) + 1),
    {.name = "sum again and again", .run = sum_again, .shape = {1000}},
    {.name = "sum of an array not aligned to 16 bytes", .run = sum, .shape = {5000, 4}},
    {.name = "sum of large numbers", .run = sum_large, .shape = {100000, 10000}},
    {.name = "sum with NaN", .run = sum_nan, .shape = {1000}},
    {.name = "sum with infinities", .run = sum_infinite, .shape = {1000, 0}},
    {.name = "sum with infinities of both signs", .run = sum_infinite, .shape = {1000, 1}},
    {.name = "max n=0", .run = max, .shape = {0, -1, 1}, .part = "reduce_max"},
    {.name = "max n=1", .run = max, .shape = {1, -1, 1}},
    {.name = "max n=31", .run = max, .shape = {31, -1, 1}},
    {.name = "max n=33", .run = max, .shape = {33, -1, 1}},
    {.name = "max n=1025", .run = max, .shape = {1025, -1, 1}},
    {.name = "max any n", .run = max, .shape = {2, -1, 1}, .most = {90000}},
    {.name = "max n=1000003", .run = max, .shape = {1000003, -10000, 10000}},
    {.name = "max of negative numbers", .run = max, .shape = {1000, -3, -2}},
    {.name = "max of infinities", .run = max_infinite, .shape = {1000}},
    {.name = "max with NaN", .run = max_nan, .shape = {1000}},
    {.name = "max with NaN among 300000", .run = max_nan, .shape = {300000}},
    {.name = "row_sum 0x5", .run = rows, .shape = {0, 5}, .part = "row_sum"},
    {.name = "row_sum 5x0", .run = rows, .shape = {5, 0}},
    {.name = "row_sum 1x1", .run = rows, .shape = {1, 1}},
    {.name = "row_sum 7x33", .run = rows, .shape = {7, 33}},
    {.name = "row_sum 33x7", .run = rows, .shape = {33, 7}},
    {.name = "row_sum 9x64", .run = rows, .shape = {9, 64}},
    {.name = "row_sum 3x1025", .run = rows, .shape = {3, 1025}},
    {.name = "row_sum 1x100003", .run = rows, .shape = {1, 100003}},
    {.name = "row_sum any shape", .run = rows, .shape = {1, 1}, .most = {40, 3000}},
    {.name = "row_sum 70000x3", .run = rows, .shape = {70000, 3}},
    {.name = "row_sum with NaN", .run = rows, .shape = {33, 70, 2}},
    GPU_ROW("row_sum 2000000x33", rows, 2000000, 33),
    {0},
};

static void timed_sum(const char *function, const long *shape)
{
    check_sum(function, random_f32((size_t)shape[0]), (size_t)shape[0], 0);
}

/* No ceiling on bytes: reading alone can be faster than the copy that the ceiling is made of. */
static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "plain read", .shape = "2^26 floats"},
     .function = "reduce_sum",
     .baseline = "baseline_read",
     .run = timed_sum,
     .shape = {1L << 26},
     .where = ON_GPU,
     .threshold = 0.75,
     .peer_share = 0.83,
     .peer_bytes = 4.0 * (1L << 26)},
    {.metric = {"speedup", .over = "one thread per row", .shape = "32768 × 1024"},
     .function = "row_sum",
     .baseline = "baseline_row_sum_thread_per_row",
     .run = check_rows,
     .shape = {32768, 1024},
     .where = ON_GPU,
     .threshold = 2.4,
     .peer_share = 0.22,
     .peer_bytes = 4.0 * 32768 * 1024},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^20 floats"},
     .function = "reduce_sum",
     .run = timed_sum,
     .shape = {1L << 20},
     .count = moved_bytes,
     .ideal = 4.0 * (1L << 20),
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 8.031},
    {.metric = {"atomics", .per = "block", .shape = "2^20 floats"},
     .function = "reduce_sum",
     .run = timed_sum,
     .shape = {1L << 20},
     .count = atomics_per_block,
     .bound = AT_MOST,
     .wanted = 1.0,
     .begin = 256},
    {.metric = {"atomics", .per = "64 floats", .shape = "2^20 floats"},
     .function = "reduce_sum",
     .run = timed_sum,
     .shape = {1L << 20},
     .count = atomics,
     .ideal = (1L << 20) / 64.0,
     .bound = AT_MOST,
     .wanted = 1.0},
    {.metric = {"reduction in DRAM bytes", .over = "one thread per row", .shape = "1024 × 512"},
     .function = "row_sum",
     .baseline = "baseline_row_sum_thread_per_row",
     .run = check_rows,
     .shape = {1024, 512},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 6.0},
    {.metric = {"instructions", .per = "warp", .shape = "2^20 floats"},
     .function = "reduce_sum",
     .run = timed_sum,
     .shape = {1L << 20},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 1200},
    {.metric = {"instructions", .per = "warp", .shape = "4096 × 512"},
     .function = "row_sum",
     .run = check_rows,
     .shape = {4096, 512},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 3000},
    {0},
};

EXERCISE(208) = {
    .id = 208,
    .core = true,
    .name = "reduce",
    .file = "phase2_cuda_basics/208_reduce/208_reduce.cu",
    .functions = {"reduce_sum", "reduce_max", "row_sum"},
    .promises = {{"reduce_sum", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM | COPIES_NOTHING},
                 {"reduce_max", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM | COPIES_NOTHING}},
    .baseline_file = "grader/exercises/208_reduce/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "sum n=1025",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
