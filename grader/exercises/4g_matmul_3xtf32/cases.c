/* 4g_matmul_3xtf32: cases of the product of fp32 on tensor cores, which must be as accurate as
 * fp32: sums of many terms of one sign too, where rounding towards zero drifts. On softgpu, which
 * has 8 multiprocessors, wgmma takes what has at least four tiles of 128 x 256; smaller products
 * are of mma.sync. Its speed against 401 as it was, and how many products it needs. */
#include "exercises/shared/matmul_cases.h"

#include <math.h>

MATMUL_RUNNERS_BUT_NAN("matmul_3xtf32")

/* c of two matrices, all of which were written. */
static float *multiply(const float *a, const float *b, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    float *c = f32_array((size_t)(m * n));
    call_cuda("matmul_3xtf32",
              ARGS(out_f32("c", c, (size_t)(m * n)), in_f32("a", a, (size_t)(m * k)),
                   in_f32("b", b, (size_t)(k * n)), i32((int)m), i32((int)n), i32((int)k),
                   stream()));
    return c;
}

/* Terms of one sign: their errors add up too, wherever each is of one sign. Sums in fp32 in any
 * order stay below half of this. */
static void run_positive(const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const float *a = random_f32_between((size_t)(m * k), 0.5f, 1.0f);
    const float *b = random_f32_between((size_t)(k * n), 0.5f, 1.0f);
    double *want = f64_array((size_t)(m * n)), *scale = f64_array((size_t)(m * n));
    reference_matmul(want, scale, a, b, m, n, k);
    expect_close((layout){"c", (size_t)m, (size_t)n}, multiply(a, b, shape), want, scale, 1e-5);
}

/* Numbers far from 1: of a product of 1e-30 and 1e30 the parts that are left out are small, too. */
static void run_range(const long *shape)
{
    const float *a = random_f32_between((size_t)(shape[0] * shape[2]), -1e30f, 1e30f);
    const float *b = random_f32_between((size_t)(shape[2] * shape[1]), -1e-30f, 1e-30f);
    expect_matmul(multiply(a, b, shape), a, b, shape[0], shape[1], shape[2]);
}

/* A NaN or an infinity in a row of a, and one in a column of b. What an infinity becomes is the
 * contract's: infinite or NaN. */
static void spread(const long *shape, float in_a, float in_b)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    const long row = (long)random_below(case_random(), (uint64_t)m);
    const long col = (long)random_below(case_random(), (uint64_t)n);
    a[row * k + (long)random_below(case_random(), (uint64_t)k)] = in_a;
    b[(long)random_below(case_random(), (uint64_t)k) * n + col] = in_b;
    const float *c = multiply(a, b, shape);
    for (long i = 0; i < m; i++) {
        for (long j = 0; j < n; j++) {
            const float got = c[i * n + j];
            const bool nan = (i == row && isnan(in_a)) || (j == col && isnan(in_b));
            if (i == row || j == col)
                expect(nan ? isnan(got) : !isfinite(got), "%s is lost in c[%ld][%ld], which is %g",
                       nan ? "a NaN" : "an infinity", i, j, got);
            else
                expect(isfinite(got), "c[%ld][%ld] is %g, but its row and column are finite", i, j,
                       got);
        }
    }
}

static void run_nan(const long *shape)
{
    spread(shape, NAN, INFINITY);
    spread(shape, -INFINITY, NAN);
    spread(shape, INFINITY, -INFINITY);
}

static const grading_case cases[] = {
    MATMUL_ROWS,
    {.name = "misaligned, rows of 16 bytes", .run = run_misaligned, .shape = {36, 44, 12}},
    {.name = "tiles of wgmma, k=0", .run = run_exact, .shape = {130, 516, 0}},
    {.name = "infinities, rows of 16 bytes", .run = run_nan, .shape = {37, 44, 32}},
    {.name = "127x124x28", .run = run_random, .shape = {127, 124, 28}},
    {.name = "128x128x32", .run = run_random, .shape = {128, 128, 32}},
    {.name = "129x132x36", .run = run_random, .shape = {129, 132, 36}},
    {.name = "tiles of wgmma, 257x516x36", .run = run_random, .shape = {257, 516, 36}},
    {.name = "tiles of wgmma, 384x260x420", .run = run_random, .shape = {384, 260, 420}},
    {.name = "infinities, tiles of wgmma", .run = run_nan, .shape = {130, 516, 32}},
    {.name = "64x64x164", .run = run_random, .shape = {64, 64, 164}},
    {.name = "large and small, 33x36x40", .run = run_range, .shape = {33, 36, 40}},
    {.name = "terms of one sign, 16x16x4096", .run = run_positive, .shape = {16, 16, 4096}},
    {.name = "terms of one sign, 4x16896x4096",
     .run = run_positive,
     .shape = {4, 16896, 4096},
     .where = ON_GPU},
    LONG_ROW("65543x4x4", run_random, 65543, 4, 4),
    LONG_ROW("3x65540x4", run_random, 3, 65540, 4),
    LONG_ROW("3x4x5004", run_random, 3, 4, 5004),
    MATMUL_GPU_ROWS,
    GPU_ROW("2000x2008x2016", run_random, 2000, 2008, 2016),
    {0},
};

/* Three products of TF32 for each of fp32. */
static const speed_test speed[] = {
    {.metric = {"speedup", .over = "401", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_3xtf32",
     .baseline = "baseline_matmul_vectorized",
     .run = matmul_timed,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 2.7, /* mma.sync: 2.3 */
     .flop = 3 * 2.0 * 4096 * 4096 * 4096,
     .precision = IN_TF32,
     .capability = 90,
     .peer_share = 0.0136,
     .peer_bytes = 4096.0 * 4096 * (4 + 4 + 4)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = "16 × 8 × 8 product", .shape = "256 × 128 × 128"},
     .function = "matmul_3xtf32",
     .run = matmul_timed,
     .shape = {256, 128, 128},
     .count = tensor_instructions,
     .ideal = 16.0 * 16 * 16,
     .bound = EXACTLY,
     .multiplications = 256.0 * 128 * 128,
     .wanted = 3,
     .by_any_compiler = true},
    {.metric = {"shared-memory requests", .per = "16 × 8 × 8 product", .shape = "256 × 128 × 128"},
     .function = "matmul_3xtf32",
     .run = matmul_timed,
     .shape = {256, 128, 128},
     .count = shared_requests,
     .ideal = 16.0 * 16 * 16,
     .bound = AT_MOST,
     .least = 0.05, /* 64 × 96 sums fill the registers of a warp: at least 0.2 */
     .by_any_compiler = true,
     .wanted = 4.0}, /* b word by word, and smaller tiles of a warp: 3 */
    {.metric = {"bank conflicts", .shape = "256 × 128 × 128"},
     .function = "matmul_3xtf32",
     .run = matmul_timed,
     .shape = {256, 128, 128},
     .count = bank_conflicts,
     .bound = EXACTLY,
     .by_any_compiler = true,
     .wanted = 0},
    {.metric = {"tensor instructions", .per = "64 × 128 × 8 product", .shape = "512 × 512 × 128"},
     .function = "matmul_3xtf32",
     .run = matmul_timed,
     .shape = {512, 512, 128},
     .count = tensor_instructions,
     .ideal = 8.0 * 4 * 16,
     .bound = EXACTLY,
     .multiplications = 512.0 * 512 * 128,
     .wanted = 12}, /* four warps, three products; mma.sync: 192 */
    {.metric = {"share of loads by bulk copies", .shape = "512 × 512 × 128"},
     .function = "matmul_3xtf32",
     .run = matmul_timed,
     .shape = {512, 512, 128},
     .count = loads_in_bulk,
     .bound = AT_LEAST,
     .wanted = 0.99},
    {.metric = {"bank conflicts", .shape = "512 × 512 × 128"},
     .function = "matmul_3xtf32",
     .run = matmul_timed,
     .shape = {512, 512, 128},
     .count = bank_conflicts,
     .bound = EXACTLY,
     .wanted = 0},
    {0},
};

EXERCISE(4g) = {
    .id = CHALLENGE(4, 'g'),
    .name = "matmul_3xtf32",
    .file = "phase4_optimization/4g_matmul_3xtf32/4g_matmul_3xtf32.cu",
    .parts = {"phase4_optimization/4g_matmul_3xtf32/4g_wgmma.cuh"},
    .functions = {"matmul_3xtf32"},
    .prerequisites = {401},
    .sm_90a = true,
    .softgpu_90 = true,
    .baseline_file = "grader/exercises/2a_matmul_warptile/baseline.cu",
    .points = 20,
    .speed_points = 10,
    .see = "64x64x164",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
