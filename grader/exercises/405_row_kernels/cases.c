/* 405_row_kernels: softmax, layernorm and rmsnorm of rows that fit in registers, in shared memory
 * and in neither; any alignment; what 304 and 311 hold theirs to; bytes moved; time against
 * three passes and against a copy. shape: rows, cols, values */
#include "exercises/shared/layer_cases.h"
#include "exercises/shared/norm_cases.h"

#include <math.h>
#include <string.h>

#define SAMPLED_ROWS 64 /* of a large call */

typedef void row_check(const float *y, const float *x, const float *gamma, const float *beta,
                       long rows, long cols);

static void check_softmax(const float *y, const float *x, const float *gamma, const float *beta,
                          long rows, long cols)
{
    (void)gamma, (void)beta;
    expect_softmax_rows(y, x, rows, cols);
}

static void check_layernorm(const float *y, const float *x, const float *gamma, const float *beta,
                            long rows, long cols)
{
    expect_layernorm("y", y, x, gamma, beta, rows, cols);
}

static double *rms_normalized(const float *x, const float *gamma, long rows, long cols,
                              double divisor, double eps)
{
    double *y = f64_array((size_t)(rows * cols));
    for (long r = 0; r < rows; r++) {
        double squares = 0.0;
        for (long c = 0; c < cols; c++) squares += (double)x[r * cols + c] * x[r * cols + c];
        const double factor = 1.0 / sqrt(squares / divisor + eps);
        for (long c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] * factor * gamma[c];
    }
    return y;
}

static void check_rmsnorm(const float *y, const float *x, const float *gamma, const float *beta,
                          long rows, long cols)
{
    const size_t size = (size_t)(rows * cols);
    const double *want = rms_normalized(x, gamma, rows, cols, (double)cols, norm_eps);
    double *scale = f64_array(size), *as_layernorm = f64_array(size);
    for (size_t i = 0; i < size; i++) scale[i] = (1 + drift_of(cols)) * fabs(want[i]) + 1e-30;
    const layout l = {"y", (size_t)rows, (size_t)cols};
    if (!is_close(l, y, want, scale, FP32_SUM_TOLERANCE)) {
        for (long r = 0; r < rows; r++) {
            double mean, var;
            row_moments(x + r * cols, cols, &mean, &var);
            for (long i = r * cols; i < (r + 1) * cols; i++)
                as_layernorm[i] = (x[i] - mean) / sqrt(var + norm_eps) * gamma[i % cols];
        }
        suspect("the mean is subtracted: that is layernorm", as_layernorm);
        suspect("eps is left out", rms_normalized(x, gamma, rows, cols, (double)cols, 0.0));
        suspect("the sum of the squares is not divided by cols",
                rms_normalized(x, gamma, rows, cols, 1.0, norm_eps));
    }
    (void)beta;
    expect_close(l, y, want, scale, FP32_SUM_TOLERANCE);
}

/* Every buffer begins `shift` bytes past an aligned address. */
static void call(const char *function, float *y, const float *x, const float *gamma,
                 const float *beta, long rows, long cols, float eps, unsigned shift)
{
    const size_t size = (size_t)(rows * cols), n = (size_t)cols;
    const argument to = shifted(out_f32("y", y, size), shift);
    const argument from = shifted(in_f32("x", x, size), shift);
    const argument g = shifted(in_f32("gamma", gamma, n), shift);
    const argument b = shifted(in_f32("beta", beta, n), shift);
    const argument r = i32((int)rows), c = i32((int)cols);
    if (strstr(function, "softmax"))
        call_cuda(function, ARGS(to, from, r, c, stream()));
    else if (strstr(function, "layernorm"))
        call_cuda(function, ARGS(to, from, g, b, r, c, f32(eps), stream()));
    else
        call_cuda(function, ARGS(to, from, g, r, c, f32(eps), stream()));
}

static row_check *check_of(const char *function)
{
    return strstr(function, "softmax")     ? check_softmax
           : strstr(function, "layernorm") ? check_layernorm
                                           : check_rmsnorm;
}

static void call_and_check(const char *function, const float *x, long rows, long cols,
                           unsigned shift)
{
    const float *gamma = random_f32_between((size_t)cols, -2.0f, 2.0f);
    const float *beta = random_f32((size_t)cols);
    float *y = f32_array((size_t)(rows * cols));
    call(function, y, x, gamma, beta, rows, cols, norm_eps, shift);
    if (strstr(function, "_copy")) return; /* a baseline, whose y is x */
    if (rows > 100000 || rows * cols > 10000000) {
        const int *some = sampled_rows(SAMPLED_ROWS, rows);
        y = rows_of(y, cols, some, SAMPLED_ROWS), x = rows_of(x, cols, some, SAMPLED_ROWS);
        rows = SAMPLED_ROWS;
    }
    check_of(function)(y, x, gamma, beta, rows, cols);
}

static void run(const char *function, const long *shape)
{
    const float *x = random_rows((row_values)shape[2], shape[0], shape[1]);
    call_and_check(function, x, shape[0], shape[1], 0);
}

static void run_softmax(const long *shape)
{
    run("softmax_rows", shape);
}

static void run_layernorm(const long *shape)
{
    run("layernorm_rows", shape);
}

static void run_rmsnorm(const long *shape)
{
    run("rmsnorm_rows", shape);
}

/* Rows that no float4 can take: 4 bytes past an aligned address. */
enum { SOFTMAX, LAYERNORM, RMSNORM };
static const char *const functions[] = {"softmax_rows", "layernorm_rows", "rmsnorm_rows"};

/* shape: rows, columns, which of them */
static void run_misaligned(const long *shape)
{
    const float *x = random_rows(AROUND_0, shape[0], shape[1]);
    call_and_check(functions[shape[2]], x, shape[0], shape[1], 4);
}

/* An eighth of x, and a 64th of eps: y is as of x. Without eps it is as of any multiple of x. */
static void run_other_eps(const long *shape)
{
    const char *function = functions[shape[2]];
    const size_t size = (size_t)(shape[0] * shape[1]), n = (size_t)shape[1];
    const float *gamma = random_f32_between(n, -2.0f, 2.0f), *beta = random_f32(n);
    float *x = random_rows(TINY, shape[0], shape[1]), *eighth = f32_array(size);
    float *y = f32_array(size), *large = f32_array(size);
    for (size_t i = 0; i < size; i++) eighth[i] = x[i] / 8, large[i] = x[i] * 0x1p20f;
    call(function, y, eighth, gamma, beta, shape[0], shape[1], norm_eps / 64, 0);
    check_of(function)(y, x, gamma, beta, shape[0], shape[1]);
    call(function, y, eighth, gamma, beta, shape[0], shape[1], 0.0f, 0);
    check_of(function)(y, large, gamma, beta, shape[0], shape[1]);
}

static void run_softmax_large(const long *shape)
{
    const float *x = random_f32_between((size_t)(shape[0] * shape[1]), -1e4f, 1e4f);
    call_and_check("softmax_rows", x, shape[0], shape[1], 0);
}

static void run_softmax_all_negative(const long *shape)
{
    const float *x = random_f32_between((size_t)(shape[0] * shape[1]), -10004.0f, -9996.0f);
    call_and_check("softmax_rows", x, shape[0], shape[1], 0);
}

/* A third of all entries is masked, and one row as a whole; the next one ends with a NaN. */
static void run_softmax_masked(const long *shape)
{
    const long rows = shape[0], cols = shape[1];
    float *x = random_rows(AROUND_0, rows, cols);
    sprinkle_f32(x, (size_t)(rows * cols), -INFINITY, (int)(rows * cols / 3));
    const long row = (long)random_below(case_random(), (uint64_t)rows);
    for (long c = 0; c < cols; c++) x[row * cols + c] = -INFINITY;
    x[(row + 1) % rows * cols + cols - 1] = NAN;
    call_and_check("softmax_rows", x, rows, cols, 0);
}

/* The rows of each function. */
#define SIZES(function, runner)                                                                    \
    {.name = function " 3x1", .run = runner, .shape = {3, 1}, .part = function "_rows"},           \
        {.name = function " 9x32", .run = runner, .shape = {9, 32}},                               \
        {.name = function " 7x256", .run = runner, .shape = {7, 256}},                             \
        {.name = function " 5x320", .run = runner, .shape = {5, 320}},                             \
        {.name = function " 3x768", .run = runner, .shape = {3, 768}},                             \
        {.name = function " 2x1024", .run = runner, .shape = {2, 1024}},                           \
        {.name = function " 3x1025", .run = runner, .shape = {3, 1025}},                           \
        {.name = function " any", .run = runner, .shape = {1, 1}, .most = {20, 7000}},             \
        {.name = function " 2x4096", .run = runner, .shape = {2, 4096}},                           \
        {.name = function " 2x4097", .run = runner, .shape = {2, 4097}},                           \
        {.name = function " 1x16388", .run = runner, .shape = {1, 16388}},                         \
        {.name = function " 2x65536", .run = runner, .shape = {2, 65536}, .once = true},           \
        {.name = function " 1x65537", .run = runner, .shape = {1, 65537}, .once = true},           \
        {.name = function " 1x100000", .run = runner, .shape = {1, 100000}, .once = true},         \
        {.name = function " 70001x3", .run = runner, .shape = {70001, 3}, .once = true},           \
        {.name = function " 0x7", .run = runner, .shape = {0, 7}},                                 \
        {.name = function " 7x0", .run = runner, .shape = {7, 0}},                                 \
        {.name = function " with a nan, 6x263", .run = runner, .shape = {6, 263, WITH_NAN}},       \
        {.name = function " with a nan, 2x2000", .run = runner, .shape = {2, 2000, WITH_NAN}},     \
        {.name = function " with infinity, 5x260",                                                 \
         .run = runner,                                                                            \
         .shape = {5, 260, WITH_INFINITY}},                                                        \
        {.name = function " of equal values, 4x1100", .run = runner, .shape = {4, 1100, EQUAL}},   \
        {.name = function " of tiny values, 9x301", .run = runner, .shape = {9, 301, TINY}},       \
        {.name = function " 20011x1003",                                                           \
         .run = runner,                                                                            \
         .shape = {20011, 1003},                                                                   \
         .where = ON_GPU,                                                                          \
         .once = true},                                                                            \
    {                                                                                              \
        .name = function " 1000000x32", .run = runner, .shape = {1000000, 32}, .where = ON_GPU,    \
        .once = true                                                                               \
    }

static const grading_case cases[] = {
    SIZES("softmax", run_softmax),
    {.name = "softmax of large values, 9x301", .run = run_softmax_large, .shape = {9, 301}},
    {.name = "softmax, all negative, 5x1500", .run = run_softmax_all_negative, .shape = {5, 1500}},
    {.name = "softmax, masked, 6x260", .run = run_softmax_masked, .shape = {6, 260}},
    {.name = "softmax, masked, 3x20000", .run = run_softmax_masked, .shape = {3, 20000}},
    {.name = "softmax, misaligned, 5x256", .run = run_misaligned, .shape = {5, 256, SOFTMAX}},
    {.name = "softmax, misaligned, 2x4096", .run = run_misaligned, .shape = {2, 4096, SOFTMAX}},
    SIZES("layernorm", run_layernorm),
    {.name = "layernorm around 10000, 6x768",
     .run = run_layernorm,
     .shape = {6, 768, AROUND_10000}},
    {.name = "layernorm around 10000, 2x20000",
     .run = run_layernorm,
     .shape = {2, 20000, AROUND_10000}},
    {.name = "layernorm, another eps, 9x301", .run = run_other_eps, .shape = {9, 301, LAYERNORM}},
    {.name = "layernorm, misaligned, 5x256", .run = run_misaligned, .shape = {5, 256, LAYERNORM}},
    {.name = "layernorm, misaligned, 2x4096", .run = run_misaligned, .shape = {2, 4096, LAYERNORM}},
    SIZES("rmsnorm", run_rmsnorm),
    {.name = "rmsnorm around 10000, 6x768", .run = run_rmsnorm, .shape = {6, 768, AROUND_10000}},
    {.name = "rmsnorm, another eps, 9x301", .run = run_other_eps, .shape = {9, 301, RMSNORM}},
    {.name = "rmsnorm, misaligned, 5x256", .run = run_misaligned, .shape = {5, 256, RMSNORM}},
    {.name = "rmsnorm, misaligned, 2x4096", .run = run_misaligned, .shape = {2, 4096, RMSNORM}},
    {0},
};

/* A timed or counted call. */
static void run_timed(const char *function, const long *shape)
{
    const float *x = random_rows(AROUND_0, shape[0], shape[1]);
    call_and_check(function, x, shape[0], shape[1], 0);
}

#define SPEED(which, r, c, of, share, plain, at_least, ...)                                        \
    {                                                                                              \
        .metric = {__VA_ARGS__, .shape = #r " × " #c}, .function = which "_rows",                  \
        .baseline = "baseline_" which of, .run = run_timed, .shape = {r, c}, .where = ON_GPU,      \
        .threshold = at_least, .begin = plain, .bytes = 8.0 * r * c, .peer_share = share,          \
        .peer_bytes = 8.0 * r * c                                                                  \
    }
#define OVER_THREE_PASSES(which, r, c, at_least)                                                   \
    SPEED(which, r, c, "_rows", 0.2, 0, at_least, "speedup", .over = "three passes")
/* The share is that of 203's copy. Plain are 304 and 311, of 2,048 columns (tests.tsv). */
#define OF_A_COPY(which, r, c, plain, at_least)                                                    \
    SPEED(which, r, c, "_copy", 0.88, plain, at_least, "bandwidth", .relative_to = "device copy")

static const speed_test speed[] = {
    OVER_THREE_PASSES("softmax", 512, 65536, 1.9),
    OVER_THREE_PASSES("rmsnorm", 65536, 256, 2.2),
    OF_A_COPY("softmax", 16384, 4096, 0.65, 0.8),
    OF_A_COPY("layernorm", 8192, 4096, 0.36, 0.8),
    {0},
};

#define TRAFFIC(which, r, c, at_most, plain)                                                       \
    {                                                                                              \
        .metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = #r " × " #c},                    \
        .function = which "_rows", .run = run_timed, .shape = {r, c}, .count = moved_bytes,        \
        .ideal = 8.0 * r * c, .bound = AT_MOST, .wanted = at_most, .begin = plain                  \
    }

static const traffic_test traffic[] = {
    TRAFFIC("softmax", 8, 4096, 1.1, 1.75),
    TRAFFIC("softmax", 2, 65536, 1.6, 1.75),
    TRAFFIC("layernorm", 8, 4096, 2.1, 3),
    {.metric = {"instructions", .per = "warp", .shape = "512 × 512"},
     .function = "softmax_rows",
     .run = run_timed,
     .shape = {512, 512},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 3000},
    {0},
};

EXERCISE(405) = {
    .id = 405,
    .name = "row_kernels",
    .file = "phase4_optimization/405_row_kernels/405_row_kernels.cu",
    .functions = {"softmax_rows", "layernorm_rows", "rmsnorm_rows"},
    .baseline_file = "grader/exercises/305_cross_entropy/baseline.cu",
    .exponentials = true,
    .masks = true,
    .points = 15,
    .speed_points = 10,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
