/* 4c_flash_attention2.c: attention in bf16. What q, k and v are after rounding is what counts; then
 * out is as 409's but for one rounding of the weights, which are bf16 too, and one of out; lse is
 * fp32 as there. Scores that rise and fall from tile to tile, of any size and sign; sizes beside
 * the tiles; its rate beside that of a product; what it costs on tensor cores and in memory.
 * shape: batch, heads, seq, dim, causal */
#include "exercises/shared/attention_half_cases.h"

#include <math.h>
#include <string.h>

#define INVALID_VALUE 1
#define SAMPLED_ROWS  40
#define FULL_CHECK    30000000UL /* multiplications of a reference that is computed in full */

typedef struct outputs {
    void *out;  /* bf16 [size] */
    float *lse; /* [rows] */
} outputs;

/* q, k and v become what they are in bf16. */
static outputs call(attention *a, bool with_lse, unsigned shift)
{
    const outputs o = {array_of(ELEMENT_BF16, a->size), f32_array(a->rows)};
    const argument lse = with_lse ? out_f32("lse", o.lse, a->rows) : null_pointer();
    const argument q = attention_half_in("q", a->q, a->size, shift);
    const argument k = attention_half_in("k", a->k, a->size, 3 * shift);
    const argument v = attention_half_in("v", a->v, a->size, 5 * shift);
    call_cuda("attention_flash2",
              ARGS(shifted(out_of(ELEMENT_BF16, "out", o.out, a->size), 2 * shift), lse, q, k, v,
                   ATTENTION_SHAPE(a)));
    return o;
}

/* ---- against double -------------------------------------------------------------------------- */

/* Of a row: what out is off by as fp32, and weights of which each is rounded to bf16. */
static void bounds_of_row(double *bound, const attention_row *r, const attention *a, size_t row)
{
    const double of_fp32 = FP32_SUM_TOLERANCE * roundings_of_row(r, a);
    for (long i = 0; i < a->dim; i++) {
        const double size = attention_scale(r, a, row, i) / roundings_of_row(r, a);
        bound[i] = size * (of_fp32 + BF16_ROUNDING);
    }
}

static void expect_outputs(const outputs *o, bool with_lse, const attention *a)
{
    if (a->size == 0) return;
    size_t count;
    const int *rows = attention_rows(a, FULL_CHECK, SAMPLED_ROWS, &count);
    const size_t dim = (size_t)a->dim;
    double *want = f64_array(count * dim), *bound = f64_array(count * dim);
    double *want_lse = f64_array(count), *lse_bound = f64_array(count);
    uint16_t *got = array_of(ELEMENT_BF16, count * dim);
    float *lse = f32_array(count);
    attention_row r = new_attention_row(a);
    for (size_t i = 0; i < count; i++) {
        const size_t row = (size_t)rows[i];
        reference_attention_row(&r, a, row);
        memcpy(want + i * dim, r.out, dim * sizeof *want);
        memcpy(got + i * dim, (uint16_t *)o->out + row * dim, dim * sizeof *got);
        bounds_of_row(bound + i * dim, &r, a, row);
        want_lse[i] = r.lse, lse[i] = o->lse[row];
        lse_bound[i] = roundings_of_row(&r, a) + (isfinite(r.lse) ? fabs(r.lse) : 0.0);
    }
    expect_close_of((layout){"out", count, dim}, ELEMENT_BF16, got, want, bound, 1);
    if (with_lse)
        expect_close((layout){"lse", 1, count}, lse, want_lse, lse_bound, FP32_SUM_TOLERANCE);
}

static void check(attention a, unsigned shift)
{
    const outputs o = call(&a, true, shift);
    expect_outputs(&o, true, &a);
}

/* ---- cases ----------------------------------------------------------------------------------- */

ATTENTION_HALF_RUNNERS(check)

static void run_without_lse(const long *shape)
{
    attention a = random_attention(shape);
    const outputs o = call(&a, false, 0);
    expect_outputs(&o, false, &a);
}

static void run_other_scale(const long *shape)
{
    attention a = random_attention(shape);
    a.scale *= -1.7f;
    check(a, 0);
    a.scale = 0.0f;
    check(a, 0);
}

/* Scores from `first` in the first key to `last` in the last one, and a little of noise. */
static attention sloping(const long *shape, float first, float last)
{
    attention a = random_attention(shape);
    const size_t dim = (size_t)a.dim, seq = (size_t)a.seq;
    a.scale = 1.0f;
    for (size_t i = 0; i < a.size; i++) {
        const float part = (float)(i / dim % seq) / (float)seq;
        a.q[i] = i % dim == 0 ? 1.0f : a.q[i] / 16;
        a.k[i] = i % dim == 0 ? first + (last - first) * part : a.k[i] / 4;
    }
    return a;
}

static void run_rising(const long *shape)
{
    check(sloping(shape, -60.0f, 60.0f), 0);
    check(sloping(shape, -5.0f, 5.0f), 0); /* few at a time */
    check(sloping(shape, -3000.0f, 1000.0f), 0);
}

static void run_falling(const long *shape)
{
    check(sloping(shape, 60.0f, -60.0f), 0);
    check(sloping(shape, -1000.0f, -9000.0f), 0);
}

/* Scores of -infinity, in the first tile too: they have no weight. A head has nothing else. */
static void run_without_weight(const long *shape)
{
    attention a = random_attention(shape);
    const size_t dim = (size_t)a.dim, seq = (size_t)a.seq;
    for (size_t i = 0; i < a.size; i++) a.q[i] = fabsf(a.q[i]) + 0.01f;
    for (size_t i = 0; i < a.size; i++) {
        if (i / dim >= seq || i / dim < seq - 5 || i / dim % 2) a.k[i] = -INFINITY;
    }
    check(a, 0);
}

/* A NaN in a query is its own. */
static void run_nan(const long *shape)
{
    attention a = random_attention(shape);
    const size_t dim = (size_t)a.dim, query = random_below(case_random(), a.rows);
    a.q[query * dim + random_below(case_random(), dim)] = NAN;
    const outputs o = call(&a, true, 0);
    const float *out = f32_of(ELEMENT_BF16, o.out, a.size);
    for (size_t i = 0; i < a.size; i++)
        expect((bool)isnan(out[i]) == (i / dim == query),
               "out[%zu][%zu] is %g; a NaN is in query %zu alone", i / dim, i % dim, out[i], query);
    expect(isnan(o.lse[query]), "lse[%zu] is %g, but there is a NaN in its query", query,
           o.lse[query]);
}

/* What comes after a query changes no bit of what it gets. */
static void run_future(const long *shape)
{
    attention a = random_attention(shape);
    const outputs before = call(&a, true, 0);
    const size_t seq = (size_t)a.seq, dim = (size_t)a.dim, first = seq - seq / 3;
    for (size_t i = 0; i < a.size; i++) {
        if (i / dim % seq >= first) a.k[i] *= 3.0f, a.v[i] += 7.0f, a.q[i] -= 1.0f;
    }
    const outputs after = call(&a, true, 0);
    for (size_t row = 0; row < a.rows; row++) {
        const char *one = (char *)before.out + 2 * row * dim,
                   *other = (char *)after.out + 2 * row * dim;
        expect(row % seq >= first ||
                   (memcmp(one, other, 2 * dim) == 0 && before.lse[row] == after.lse[row]),
               "query %zu got other bits when tokens from %zu on were changed", row % seq, first);
    }
    expect_outputs(&after, true, &a);
}

static void run_refused(const long *shape)
{
    static const int dims[] = {0, 1, 32, 96, 256};
    const size_t size = (size_t)(shape[0] * shape[1] * shape[2]) * 256;
    void *x = array_of(ELEMENT_BF16, size);
    for (int i = 0; i < 5; i++) {
        void *out = array_of(ELEMENT_BF16, size);
        call_refused(INVALID_VALUE, "attention_flash2",
                     ARGS(out_of(ELEMENT_BF16, "out", out, size), null_pointer(),
                          in_of(ELEMENT_BF16, "q", x, size), in_of(ELEMENT_BF16, "k", x, size),
                          in_of(ELEMENT_BF16, "v", x, size), i32((int)shape[0]), i32((int)shape[1]),
                          i32((int)shape[2]), i32(dims[i]), i32(0), f32(1.0f), stream()));
    }
    run(shape);
}

#define SIZES(dim)                                                                                 \
    {.name = "1x2x1x" #dim, .run = run, .shape = {1, 2, 1, dim, 1}},                               \
        {.name = "2x1x63x" #dim, .run = run, .shape = {2, 1, 63, dim, 0}},                         \
        {.name = "causal 1x2x65x" #dim, .run = run, .shape = {1, 2, 65, dim, 1}},                  \
    {                                                                                              \
        .name = "1x1x129x" #dim, .run = run, .shape = { 1, 1, 129, dim, 0 }                        \
    }

static const grading_case cases[] = {
    SIZES(64),
    SIZES(128),
    {.name = "causal 1x1x64x64", .run = run, .shape = {1, 1, 64, 64, 1}},
    {.name = "causal 1x1x193x128", .run = run, .shape = {1, 1, 193, 128, 1}},
    {.name = "any seq, 64", .run = run, .shape = {1, 1, 1, 64, 0}, .most = {2, 3, 140, 64, 1}},
    {.name = "any seq, 128", .run = run, .shape = {1, 1, 1, 128, 0}, .most = {2, 2, 140, 128, 1}},
    LONG_ROW("causal 1x1x1030x64", run, 1, 1, 1030, 64, 1),
    ATTENTION_HALF_ROWS,
    {.name = "without lse", .run = run_without_lse, .shape = {1, 1, 30, 64, 1}},
    {.name = "misaligned, 64", .run = run_misaligned, .shape = {1, 2, 67, 64, 1}},
    {.name = "misaligned, 128", .run = run_misaligned, .shape = {1, 1, 70, 128, 0}},
    {.name = "another scale", .run = run_other_scale, .shape = {1, 1, 70, 64, 1}},
    {.name = "scores of 10000", .run = run_large_scores, .shape = {1, 1, 140, 64, 1}},
    {.name = "rising scores", .run = run_rising, .shape = {1, 1, 200, 64, 0}},
    {.name = "rising scores, causal", .run = run_rising, .shape = {1, 1, 140, 64, 1}},
    {.name = "falling scores", .run = run_falling, .shape = {1, 1, 140, 64, 0}},
    {.name = "keys without weight", .run = run_without_weight, .shape = {1, 2, 100, 64, 0}},
    {.name = "a query with nan", .run = run_nan, .shape = {1, 2, 70, 64, 1}},
    {.name = "the future", .run = run_future, .shape = {1, 1, 150, 64, 1}},
    {.name = "causal 2x4x1000x128", .run = run, .shape = {2, 4, 1000, 128, 1}, .where = ON_GPU},
    {.name = "3x5x2500x64", .run = run, .shape = {3, 5, 2500, 64, 0}, .where = ON_GPU},
    GPU_ROW("70001x1x3x64", run, 70001, 1, 3, 64, 1),
    GPU_ROW("causal 1x2x65536x128", run, 1, 2, 65536, 128, 1),
    {0},
};

/* ---- speed and counts ------------------------------------------------------------------------ */

static void run_timed(const char *function, const long *shape)
{
    if (!attention_half_baseline(function, shape)) run(shape);
}

static const speed_test speed[] = {
    ATTENTION_HALF_SPEED("attention_flash2", 2, 1.76), /* FlashAttention-2 */
    {0},
};

#define COUNTED 384 /* queries, of one head of 64 */

static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = "16 × 8 × 16 product", .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = tensor_instructions,
     .ideal = 4.0 * COUNTED * COUNTED * 64 / 4096,
     .bound = AT_LEAST,
     .multiplications = 2.0 * COUNTED * COUNTED * 64,
     .wanted = 1.0},
    {.metric = {"tensor instructions", .relative_to = "those of products below the diagonal",
                .shape = "causal 1 × 1 × 384 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 1},
     .count = tensor_instructions,
     .ideal = 2.0 * COUNTED * COUNTED * 64 / 4096,
     .bound = AT_MOST,
     .wanted = 1.2},
    {.metric = {"bytes touched", .relative_to = "bytes of all arrays",
                .shape = "1 × 1 × 1024 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, 1024, 64, 1},
     .count = footprint_bytes,
     .ideal = 1024.0 * (4 * 64 * 2 + 4),
     .bound = AT_MOST,
     .wanted = 1.2},
    {.metric = {"shared-memory requests", .per = "16 × 8 × 16 product",
                .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = shared_requests,
     .ideal = 4.0 * COUNTED * COUNTED * 64 / 4096,
     .bound = AT_MOST,
     .least = 0.05, /* of tiles from shared memory */
     .wanted = 0.7},
    {.metric = {"bank conflicts", .shape = "1 × 1 × 384 × 64"},
     .function = "attention_flash2",
     .run = run_timed,
     .shape = {1, 1, COUNTED, 64, 0},
     .count = bank_conflicts,
     .bound = EXACTLY,
     .wanted = 0},
    {0},
};

EXERCISE(4c) = {
    .id = CHALLENGE(4, 'c'),
    .name = "flash_attention2",
    .file = "phase4_optimization/4c_flash_attention2/4c_flash_attention2.cu",
    .parts = {"phase4_optimization/4c_flash_attention2/4c_tile.cuh"},
    .functions = {"attention_flash2"},
    .promises = {{"attention_flash2", WAITS_FOR_NOTHING | ALLOCATES_NOTHING}},
    .exponentials = true,
    .masks = true,
    .baseline_file = "grader/exercises/4a_matmul_mma/baseline.cu",
    .points = 30,
    .speed_points = 15,
    .see = "causal 1x2x65x64",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
