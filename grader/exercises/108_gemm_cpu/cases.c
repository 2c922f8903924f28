/* 108_gemm_cpu: cases of BLAS's product: all four pairs of transposes, gaps between rows that are
 * neither used nor written, alpha and beta that are 0. Its speed against 106, which takes none of
 * this. */
#include "correctness/case.h"

#include <math.h>
#include <string.h>

/* One of the matrices as it is stored: `rows` of `cols`, each `ld` after the one before, and
 * nothing after the last. */
typedef struct stored {
    float *data;
    long rows, cols, ld;
    size_t size;
} stored;

static stored stored_of(long rows, long cols, long gap)
{
    stored s = {.rows = rows, .cols = cols, .ld = cols + gap > 0 ? cols + gap : 1};
    s.size = rows > 0 && cols > 0 ? (size_t)((rows - 1) * s.ld + cols) : 0;
    s.data = f32_array(s.size);
    return s;
}

/* Everything that is not an element is NaN. */
static stored store(const float *dense, long rows, long cols, bool trans, long gap)
{
    const stored s = trans ? stored_of(cols, rows, gap) : stored_of(rows, cols, gap);
    for (size_t i = 0; i < s.size; i++) s.data[i] = NAN;
    for (long i = 0; i < rows; i++) {
        for (long j = 0; j < cols; j++) {
            s.data[trans ? j * s.ld + i : i * s.ld + j] = dense[i * cols + j];
        }
    }
    return s;
}

/* The elements without the gaps; the gaps must be as they were. */
static float *elements_of(const stored *c, const float *before)
{
    float *dense = f32_array((size_t)(c->rows * c->cols));
    for (size_t at = 0; at < c->size; at++) {
        const long i = (long)at / c->ld, j = (long)at % c->ld;
        if (j < c->cols)
            dense[i * c->cols + j] = c->data[at];
        else
            expect(memcmp(&c->data[at], &before[at], sizeof *before) == 0,
                   "c[%ld * ldc + %ld] lies between two rows of %ld, and was written", i, j,
                   c->cols);
    }
    return dense;
}

static void call_gemm(const long *shape, float alpha, const stored *a, const stored *b, float beta,
                      const stored *c, unsigned shift)
{
    call_void("gemm_cpu",
              ARGS(i32((int)shape[0]), i32((int)shape[1]), i32((int)shape[2]), i32((int)shape[3]),
                   i32((int)shape[4]), f32(alpha), shifted(in_f32("a", a->data, a->size), shift),
                   i32((int)a->ld), shifted(in_f32("b", b->data, b->size), 2 * shift),
                   i32((int)b->ld), f32(beta), shifted(inout_f32("c", c->data, c->size), shift),
                   i32((int)c->ld)));
}

/* NaN is in c where beta is 0, in a and b where alpha is 0, and between the rows of a and b. */
static void expect_unread(const float *c, const double *want, const long *shape)
{
    const long n = shape[3], size = shape[2] * n, gap = shape[5], alpha = shape[6], beta = shape[7];
    const char *const why =
        beta == 0    ? "as c was before: where beta is 0, c is set and not multiplied"
        : alpha == 0 ? "as a and b are: where alpha is 0, they are not read"
                     : "as all between the rows of a and b: row i of a matrix begins at i * its ld";
    long i = 0;
    while (i < size && (!isnan(c[i]) || isnan(want[i]))) i++;
    expect(i == size || (beta && alpha && !gap), "c[%ld][%ld] is NaN, %s", i / n, i % n, why);
}

/* x[rows x cols] as a tile has it that was packed column by column. */
static const float *turned(const float *x, long rows, long cols)
{
    float *tile = f32_array((size_t)(rows * cols));
    for (long i = 0; i < rows * cols; i++) tile[i] = x[i % rows * cols + i / rows];
    return tile;
}

/* c[m x n] = a * b came out wrong. */
static void suspect_packing(const float *c, const float *a, const float *b, long m, long n, long k)
{
    double *of_a = f64_array((size_t)(m * n)), *of_b = f64_array((size_t)(m * n));
    double *scale = f64_array((size_t)(m * n));
    reference_matmul(of_a, scale, turned(a, m, k), b, m, n, k);
    reference_matmul(of_b, scale, a, turned(b, k, n), m, n, k);
    suspect_product(c, a, b, m, n, k);
    suspect("a tile is packed column by column, not row by row", of_a);
    suspect("a tile is packed column by column, not row by row", of_b);
}

/* a [m x k] and b [k x n] are op(a) and op(b). shape: trans_a, trans_b, m, n, k, gap, two times
 * alpha and beta, shift */
static void multiply_and_check(const float *a, const float *b, const long *shape)
{
    const long m = shape[2], n = shape[3], k = shape[4], gap = shape[5];
    const float alpha = 0.5f * (float)shape[6], beta = 0.5f * (float)shape[7];
    const size_t size = (size_t)(m * n);
    const stored in_a = store(a, m, k, shape[0], gap), in_b = store(b, k, n, shape[1], 2 * gap);
    stored c = stored_of(m, n, 3 * gap);
    const float *before = random_f32(c.size);
    double *want = f64_array(size), *scale = f64_array(size);
    double *overwritten = f64_array(size), *both = f64_array(size), *of_c = f64_array(size);

    for (size_t i = 0; i < c.size; i++) c.data[i] = before[i];
    if (alpha != 0.0f) reference_matmul(want, scale, a, b, m, n, k);
    for (size_t i = 0; i < size; i++) {
        float *held = &c.data[(long)i / n * c.ld + (long)i % n];
        overwritten[i] = alpha * want[i];
        both[i] = alpha * (want[i] + (double)beta * *held);
        of_c[i] = (double)beta * *held;
        want[i] = overwritten[i] + of_c[i];
        scale[i] = fabs(alpha) * scale[i] + fabs(beta * *held);
        if (beta == 0.0f) *held = NAN;
    }
    call_gemm(shape, alpha, &in_a, &in_b, beta, &c, (unsigned)shape[8]);
    const float *dense = elements_of(&c, before);
    expect_unread(dense, want, shape);
    const layout l = {"c", (size_t)m, (size_t)n};
    if (alpha == 1.0f && beta == 0.0f && !is_close(l, dense, want, scale, FP32_SUM_TOLERANCE))
        suspect_packing(dense, a, b, m, n, k);
    suspect("c is overwritten: beta * c is left out", overwritten);
    suspect("alpha multiplies c, too", both);
    suspect_term("alpha times the product is off", overwritten);
    suspect_term("beta times c is off", of_c);
    expect_close(l, dense, want, scale, FP32_SUM_TOLERANCE);
}

static void run_random(const long *shape)
{
    const float *a = random_f32((size_t)(shape[2] * shape[4]));
    const float *b = random_f32((size_t)(shape[4] * shape[3]));
    multiply_and_check(a, b, shape);
}

/* Not a number in a or b that may be read. */
static void run_unread(const long *shape)
{
    float *a = f32_array((size_t)(shape[2] * shape[4]));
    float *b = f32_array((size_t)(shape[4] * shape[3]));
    for (long i = 0; i < shape[2] * shape[4]; i++) a[i] = NAN;
    for (long i = 0; i < shape[4] * shape[3]; i++) b[i] = NAN;
    multiply_and_check(a, b, shape);
}

static void run_special(const long *shape)
{
    const size_t a_size = (size_t)(shape[2] * shape[4]), b_size = (size_t)(shape[4] * shape[3]);
    float *a = random_f32(a_size), *b = random_f32(b_size);
    sprinkle_special_f32(a, a_size, 2);
    sprinkle_special_f32(b, b_size, 2);
    multiply_and_check(a, b, shape);
}

/* One pair of transposes, in all that matters: plain, general, around likely tiles, c overwritten.
 */
#define PAIR(name_, a, b)                                                                          \
    {.name = name_ ": 2x3x4", .run = run_random, .shape = {a, b, 2, 3, 4, 0, 2, 0}},               \
        {.name = name_ ": 17x33x65, beta=0, c is NaN",                                             \
         .run = run_random,                                                                        \
         .shape = {a, b, 17, 33, 65, 0, 2, 0}},                                                    \
        {.name = name_ ": 17x33x65, alpha=1.5, beta=-0.5",                                         \
         .run = run_random,                                                                        \
         .shape = {a, b, 17, 33, 65, 0, 3, -1}},                                                   \
        {.name = name_ ": 35x21x40, gaps, beta=1",                                                 \
         .run = run_random,                                                                        \
         .shape = {a, b, 35, 21, 40, 3, 2, 2}},                                                    \
        {.name = name_ ": 129x321x257, gaps, alpha=-1, beta=2",                                    \
         .run = run_random,                                                                        \
         .shape = {a, b, 129, 321, 257, 5, -2, 4}},                                                \
    {                                                                                              \
        .name = name_ ": special", .run = run_special, .shape = { a, b, 37, 41, 29, 1, 2, 0 }      \
    }

static const grading_case cases[] = {
    PAIR("a b", 0, 0),
    PAIR("a b^T", 0, 1),
    PAIR("a^T b", 1, 0),
    PAIR("a^T b^T", 1, 1),
    {.name = "1x1x1", .run = run_random, .shape = {0, 0, 1, 1, 1, 0, 2, 0}},
    {.name = "0x5x3", .run = run_random, .shape = {0, 1, 0, 5, 3, 0, 2, 0}},
    {.name = "5x0x3", .run = run_random, .shape = {1, 0, 5, 0, 3, 0, 2, 0}},
    {.name = "k=0, beta=0", .run = run_random, .shape = {0, 0, 5, 6, 0, 2, 2, 0}},
    {.name = "k=0, beta=1.5", .run = run_random, .shape = {1, 1, 5, 6, 0, 2, 2, 3}},
    {.name = "alpha=0, a and b are NaN", .run = run_unread, .shape = {0, 0, 9, 7, 5, 2, 0, 3}},
    {.name = "alpha=0, beta=0", .run = run_unread, .shape = {1, 0, 9, 7, 5, 2, 0, 0}},
    {.name = "alpha=0, beta=1", .run = run_unread, .shape = {0, 1, 9, 7, 5, 2, 0, 2}},
    {.name = "misaligned", .run = run_random, .shape = {1, 1, 35, 45, 55, 3, 2, 1, 4}},
    {.name = "trans is any number but 0", .run = run_random, .shape = {2, -1, 9, 7, 5, 1, 2, 1}},
    LONG_ROW("70001x3x2", run_random, 1, 1, 70001, 3, 2, 1, 2, 1),
    LONG_ROW("3x70001x2", run_random, 1, 1, 3, 70001, 2, 1, 2, 1),
    LONG_ROW("3x2x70001", run_random, 1, 1, 3, 2, 70001, 1, 2, 1),
    {0},
};

/* The baseline is called on op(a) and op(b), and believed. shape: trans_a, trans_b, m, n, k */
static void run_timed(const char *function, const long *shape)
{
    const long m = shape[2], n = shape[3], k = shape[4];
    const float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    if (strcmp(function, "gemm_cpu") != 0) {
        call_void(function, ARGS(out_f32("c", f32_array((size_t)(m * n)), (size_t)(m * n)),
                                 in_f32("a", a, (size_t)(m * k)), in_f32("b", b, (size_t)(k * n)),
                                 i32((int)m), i32((int)n), i32((int)k), i32(1)));
        return;
    }
    const stored in_a = store(a, m, k, shape[0], 0), in_b = store(b, k, n, shape[1], 0);
    const stored c = stored_of(m, n, 0);
    call_gemm(shape, 1.0f, &in_a, &in_b, 0.0f, &c, 0);
    expect_matmul(c.data, a, b, m, n, k);
}

#define OF_104 0.21 /* the loops of 104, over 106: docs/results/h200/matmul.tsv, n = 512 */
#define TIMED(pair, a, b)                                                                          \
    {                                                                                              \
        .metric = {"FLOP rate", .relative_to = "106", .shape = pair ", 480 × 512 × 512"},          \
        .function = "gemm_cpu", .baseline = "baseline_matmul_vectorized", .run = run_timed,        \
        .shape = {a, b, 480, 512, 512}, .varied = 2, .where = ON_HOST, .threshold = 0.5,           \
        .begin = OF_104, .flop = 2.0 * 480 * 512 * 512, .peer_share = 20.0                         \
    }

static const speed_test speed[] = {
    TIMED("a b", 0, 0),
    TIMED("a b^T", 0, 1),
    TIMED("a^T b", 1, 0),
    {0},
};

EXERCISE(108) = {
    .id = 108,
    .name = "gemm_cpu",
    .file = "phase1_cpu/108_gemm_cpu/108_gemm_cpu.c",
    .functions = {"gemm_cpu"},
    .prerequisites = {106},
    .baseline_file = "grader/exercises/107_matmul_cpu_threads/baseline.c",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
};
