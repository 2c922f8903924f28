/* 212_matmul_transposed: products with a transposed operand and in batches, each against a plain
 * one; their speed against 211's kernel, and a batch's against a launch for each product.
 * shape: m, n, k; of a batch also its size and the strides of c, a and b, PACKED where nothing lies
 * between two matrices */
#include "exercises/shared/layer_cases.h"

#include <string.h>

#define PACKED -1

/* ---- one product ----------------------------------------------------------------------------- */

/* Whichever operand the function takes transposed it is given so; a baseline takes none. */
static void multiply(const char *function, const float *a, const float *b, const long *shape,
                     unsigned shift)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const size_t c_size = (size_t)(m * n), a_size = (size_t)(m * k), b_size = (size_t)(k * n);
    const float *a_given = strcmp(function, "matmul_tn") == 0 ? transposed(a, m, k) : a;
    const float *b_given = strcmp(function, "matmul_nt") == 0 ? transposed(b, k, n) : b;
    float *c = f32_array(c_size);
    call_cuda(function, ARGS(shifted(out_f32("c", c, c_size), shift),
                             shifted(in_f32("a", a_given, a_size), shift),
                             shifted(in_f32("b", b_given, b_size), 2 * shift), i32((int)m),
                             i32((int)n), i32((int)k), stream()));
    expect_matmul(c, a, b, m, n, k);
}

static void multiply_random(const char *function, const long *shape, unsigned shift, int special)
{
    const size_t a_size = (size_t)(shape[0] * shape[2]), b_size = (size_t)(shape[2] * shape[1]);
    float *a = random_f32(a_size), *b = random_f32(b_size);
    sprinkle_special_f32(a, a_size, special);
    sprinkle_special_f32(b, b_size, special);
    multiply(function, a, b, shape, shift);
}

static void run_timed(const char *function, const long *shape)
{
    multiply_random(function, shape, 0, 0);
}

#define RUNNERS(name)                                                                              \
    static void run_##name(const long *shape)                                                      \
    {                                                                                              \
        multiply_random("matmul_" #name, shape, 0, 0);                                             \
    }                                                                                              \
    static void run_##name##_misaligned(const long *shape)                                         \
    {                                                                                              \
        multiply_random("matmul_" #name, shape, 4, 0);                                             \
    }                                                                                              \
    static void run_##name##_special(const long *shape)                                            \
    {                                                                                              \
        multiply_random("matmul_" #name, shape, 0, 1);                                             \
    }
RUNNERS(nt)
RUNNERS(tn)

/* ---- a batch --------------------------------------------------------------------------------- */

typedef struct batch {
    long m, n, k, count, step_c, step_a, step_b;
    size_t c_size, a_size, b_size; /* from the first matrix to the end of the last */
    float *c, *a, *b;
} batch;

static size_t size_of_all(long one, long step, long count)
{
    return count == 0 ? 0 : (size_t)((count - 1) * step + one);
}

static batch random_batch(const long *shape)
{
    batch x = {shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shape[6],
               0,        0,        0,        NULL,     NULL,     NULL};
    if (x.step_c == PACKED) x.step_c = x.m * x.n;
    if (x.step_a == PACKED) x.step_a = x.m * x.k;
    if (x.step_b == PACKED) x.step_b = x.k * x.n;
    x.c_size = size_of_all(x.m * x.n, x.step_c, x.count);
    x.a_size = size_of_all(x.m * x.k, x.step_a, x.count);
    x.b_size = size_of_all(x.k * x.n, x.step_b, x.count);
    x.c = f32_array(x.c_size), x.a = random_f32(x.a_size), x.b = random_f32(x.b_size);
    return x;
}

/* A c with gaps goes there and back, for what lies between. */
static void call_batched(const char *function, const batch *x, unsigned shift)
{
    const bool gaps = x->step_c != x->m * x->n;
    argument c = gaps ? inout_f32("c", x->c, x->c_size) : out_f32("c", x->c, x->c_size);
    call_cuda(function, ARGS(shifted(c, shift), shifted(in_f32("a", x->a, x->a_size), shift),
                             shifted(in_f32("b", x->b, x->b_size), 2 * shift), i32((int)x->m),
                             i32((int)x->n), i32((int)x->k), i32((int)x->count),
                             u64((unsigned long long)x->step_c), u64((unsigned long long)x->step_a),
                             u64((unsigned long long)x->step_b), stream()));
}

/* All products one below the other, and before them what the gaps held: zeros. */
static void expect_batched(const batch *x)
{
    const size_t one = (size_t)(x->m * x->n), all = one * (size_t)x->count;
    double *want = f64_array(all), *scale = f64_array(all);
    float *got = f32_array(all);
    for (long z = 0; z < x->count; z++) {
        const float *c = x->c + z * x->step_c;
        reference_matmul(want + (size_t)z * one, scale + (size_t)z * one, x->a + z * x->step_a,
                         x->b + z * x->step_b, x->m, x->n, x->k);
        memcpy(got + (size_t)z * one, c, one * sizeof *got);
        for (long i = (long)one; z + 1 < x->count && i < x->step_c; i++)
            expect(c[i] == 0.0f, "product %ld: %g was written %ld floats behind the end of c", z,
                   c[i], i - (long)one + 1);
    }
    expect_close((layout){"c, product below product,", (size_t)(x->count * x->m), (size_t)x->n},
                 got, want, scale, FP32_SUM_TOLERANCE);
}

static void run_batched(const long *shape)
{
    const batch x = random_batch(shape);
    call_batched("matmul_batched", &x, 0);
    expect_batched(&x);
}

static void run_batched_misaligned(const long *shape)
{
    const batch x = random_batch(shape);
    call_batched("matmul_batched", &x, 4);
    expect_batched(&x);
}

static void run_batched_special(const long *shape)
{
    const batch x = random_batch(shape);
    sprinkle_special_f32(x.a, x.a_size, 1);
    sprinkle_special_f32(x.b, x.b_size, 1);
    call_batched("matmul_batched", &x, 0);
    expect_batched(&x);
}

static void run_batched_timed(const char *function, const long *shape)
{
    const batch x = random_batch(shape);
    call_batched(function, &x, 0);
    expect_batched(&x);
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define ROWS(kind)                                                                                 \
    {.name = #kind " 1x1x1", .run = run_##kind, .shape = {1, 1, 1}, .part = "matmul_" #kind},      \
        {.name = #kind " 2x3x4", .run = run_##kind, .shape = {2, 3, 4}},                           \
        {.name = #kind " 0x5x3", .run = run_##kind, .shape = {0, 5, 3}},                           \
        {.name = #kind " 5x0x3", .run = run_##kind, .shape = {5, 0, 3}},                           \
        {.name = #kind " k=0", .run = run_##kind, .shape = {5, 6, 0}},                             \
        {.name = #kind " 32x32x32", .run = run_##kind, .shape = {32, 32, 32}},                     \
        {.name = #kind " 17x33x65", .run = run_##kind, .shape = {17, 33, 65}},                     \
        {.name = #kind " 65x31x16", .run = run_##kind, .shape = {65, 31, 16}},                     \
        {.name = #kind " 33x1x129", .run = run_##kind, .shape = {33, 1, 129}},                     \
        {.name = #kind " 1x1000x512", .run = run_##kind, .shape = {1, 1000, 512}},                 \
        {.name = #kind " any", .run = run_##kind, .shape = {1, 1, 1}, .most = {90, 300, 90}},      \
        LONG_ROW(#kind " 70001x1x2", run_##kind, 70001, 1, 2),                                     \
        LONG_ROW(#kind " 2x70001x1", run_##kind, 2, 70001, 1),                                     \
        LONG_ROW(#kind " 3x2x5003", run_##kind, 3, 2, 5003),                                       \
        {.name = #kind " special", .run = run_##kind##_special, .shape = {37, 41, 29}},            \
        {.name = #kind " misaligned", .run = run_##kind##_misaligned, .shape = {35, 45, 55}},      \
        {.name = #kind " 1000x1001x1002",                                                          \
         .run = run_##kind,                                                                        \
         .shape = {1000, 1001, 1002},                                                              \
         .where = ON_GPU},                                                                         \
        {.name = #kind " 3000000x3x1",                                                             \
         .run = run_##kind,                                                                        \
         .shape = {3000000, 3, 1},                                                                 \
         .where = ON_GPU,                                                                          \
         .once = true},                                                                            \
    {                                                                                              \
        .name = #kind " 3x3000000x1", .run = run_##kind, .shape = {3, 3000000, 1},                 \
        .where = ON_GPU, .once = true                                                              \
    }

#define BATCHED(title, ...)                                                                        \
    {                                                                                              \
        .name = "batched " title, .run = run_batched, .shape = { __VA_ARGS__ }                     \
    }
#define EACH_ITS_OWN PACKED, PACKED, PACKED

static const grading_case cases[] = {
    ROWS(nt),
    ROWS(tn),
    {.name = "batched 1 of 1x1x1",
     .run = run_batched,
     .shape = {1, 1, 1, 1, EACH_ITS_OWN},
     .part = "matmul_batched"},
    BATCHED("1 of 17x33x65", 17, 33, 65, 1, EACH_ITS_OWN),
    BATCHED("1 of 19x21x23, strides of 0", 19, 21, 23, 1, 0, 0, 0),
    BATCHED("3 of 17x33x65", 17, 33, 65, 3, EACH_ITS_OWN),
    BATCHED("7 of 33x5x40", 33, 5, 40, 7, EACH_ITS_OWN),
    BATCHED("none", 5, 6, 7, 0, EACH_ITS_OWN),
    BATCHED("3 of 0x5x3", 0, 5, 3, 3, EACH_ITS_OWN),
    BATCHED("3 of 5x0x3", 5, 0, 3, 3, EACH_ITS_OWN),
    BATCHED("3 with k=0", 5, 6, 0, 3, EACH_ITS_OWN),
    BATCHED("gaps", 9, 11, 13, 5, 9 * 11 + 7, 9 * 13 + 3, 11 * 13 + 5),
    BATCHED("one a for all", 19, 21, 23, 4, PACKED, 0, PACKED),
    BATCHED("one b for all", 19, 21, 23, 4, PACKED, PACKED, 0),
    BATCHED("overlapping a", 19, 21, 23, 4, PACKED, 10, PACKED),
    {.name = "batched any",
     .run = run_batched,
     .shape = {1, 1, 1, 1, EACH_ITS_OWN},
     .most = {40, 70, 50, 6}},
    LONG_ROW("batched 1 of 70001x1x2", run_batched, 70001, 1, 2, 1, EACH_ITS_OWN),
    LONG_ROW("batched 1 of 2x70001x1", run_batched, 2, 70001, 1, 1, EACH_ITS_OWN),
    LONG_ROW("batched 2 of 3x2x5003", run_batched, 3, 2, 5003, 2, EACH_ITS_OWN),
    LONG_ROW("batched 2100 of 1x2x3", run_batched, 1, 2, 3, 2100, EACH_ITS_OWN),
    {.name = "batched 65600 of 1x1x1",
     .run = run_batched,
     .shape = {1, 1, 1, 65600, EACH_ITS_OWN},
     .once = true,
     .seconds = 120},
    {.name = "batched special", .run = run_batched_special, .shape = {17, 21, 19, 3, EACH_ITS_OWN}},
    {.name = "batched misaligned",
     .run = run_batched_misaligned,
     .shape = {35, 17, 5, 3, EACH_ITS_OWN}},
    GPU_ROW("batched 200000 of 5x6x7", run_batched, 5, 6, 7, 200000, EACH_ITS_OWN),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"FLOP rate", .relative_to = "211 without a transpose",
                .shape = "2048 × 2048 × 2048"},
     .function = "matmul_nt",
     .baseline = "baseline_matmul_tiled",
     .run = run_timed,
     .shape = {2048, 2048, 2048},
     .where = ON_GPU,
     .threshold = 0.7,
     .begin = 0.05, /* the uncoalesced kernel of 206 */
     .flop = 2.0 * 2048 * 2048 * 2048,
     .peer_share = 0.134},
    {.metric = {"FLOP rate", .relative_to = "211 without a transpose",
                .shape = "2048 × 2048 × 2048"},
     .function = "matmul_tn",
     .baseline = "baseline_matmul_tiled",
     .run = run_timed,
     .shape = {2048, 2048, 2048},
     .where = ON_GPU,
     .threshold = 0.75,
     .begin = 0.73, /* without tiles: 1 / 1.37, that of 211 */
     .flop = 2.0 * 2048 * 2048 * 2048,
     .peer_share = 0.134},
    {.metric = {"speedup", .over = "one launch per product", .shape = "1000 of 64 × 64 × 64"},
     .function = "matmul_batched",
     .baseline = "baseline_matmul_looped",
     .run = run_batched_timed,
     .shape = {64, 64, 64, 1000, EACH_ITS_OWN},
     .varied = 3,
     .where = ON_GPU,
     .threshold = 20.0,
     .flop = 2.0 * 64 * 64 * 64 * 1000,
     .peer_share = 0.0005},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"sectors", .per = "request", .shape = "128 × 96 × 64"},
     .function = "matmul_nt",
     .run = run_timed,
     .shape = {128, 96, 64},
     .count = sectors_per_request,
     .bound = AT_MOST,
     .wanted = 4.5},
    {.metric = {"reduction in DRAM bytes", .over = "211 without a transpose",
                .shape = "128 × 128 × 128"},
     .function = "matmul_tn",
     .baseline = "baseline_matmul_tiled",
     .run = run_timed,
     .shape = {128, 128, 128},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 0.5,
     .begin = 0.056},
    {.metric = {"bank conflicts", .per = "warp FMA", .shape = "128 × 128 × 128"},
     .function = "matmul_nt",
     .run = run_timed,
     .shape = {128, 128, 128},
     .count = bank_conflicts,
     .ideal = 128.0 * 128 * 128 / 32,
     .bound = AT_MOST,
     .wanted = 0.2,
     .begin = 0.969},
    {.metric = {"kernel launches", .shape = "30 of 17 × 19 × 23"},
     .function = "matmul_batched",
     .run = run_batched_timed,
     .shape = {17, 19, 23, 30, EACH_ITS_OWN},
     .count = kernel_launches,
     .bound = AT_MOST,
     .wanted = 1,
     .begin = 30},
    {.metric = {"bytes touched", .relative_to = "bytes of the arrays", .shape = "128 × 128 × 128"},
     .function = "matmul_tn",
     .run = run_timed,
     .shape = {128, 128, 128},
     .count = footprint_bytes,
     .ideal = 3 * 4.0 * 128 * 128,
     .bound = AT_MOST,
     .wanted = 1.5},
    {0},
};

EXERCISE(212) = {
    .id = 212,
    .core = true,
    .name = "matmul_transposed",
    .file = "phase2_cuda_basics/212_matmul_transposed/212_matmul_transposed.cu",
    .parts = {"phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"},
    .functions = {"matmul_nt", "matmul_tn", "matmul_batched"},
    .promises = {{"matmul_nt", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"matmul_tn", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"matmul_batched", WAITS_FOR_NOTHING | ALLOCATES_NOTHING}},
    .baseline_file = "grader/exercises/212_matmul_transposed/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
