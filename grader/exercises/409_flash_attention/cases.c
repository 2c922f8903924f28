/* 409_flash_attention.c: as 313, and what an online softmax gets wrong: scores that rise from tile
 * to tile, tiles without any weight, tails of tiles; the log-sum-exp; no memory for scores, no work
 * for masked ones. shape: batch, heads, seq, dim, causal */
#include "exercises/shared/attention_cases.h"

#include <math.h>
#include <string.h>

#define REFUSED 1 /* cudaErrorInvalidValue */

static void flash(const attention *a, float *out, argument lse, unsigned shift)
{
    call_cuda("attention_flash",
              ARGS(shifted(out_f32("out", out, a->size), shift), lse,
                   shifted(in_f32("q", a->q, a->size), shift),
                   shifted(in_f32("k", a->k, a->size), 2 * shift),
                   shifted(in_f32("v", a->v, a->size), 3 * shift), ATTENTION_SHAPE(a)));
}

static void flash_and_check(const attention *a, unsigned shift)
{
    float *out = f32_array(a->size), *lse = f32_array(a->rows);
    flash(a, out, shifted(out_f32("lse", lse, a->rows), 2 * shift), shift);
    expect_attention(out, lse, a);
}

static void run_flash(const long *shape)
{
    const attention a = random_attention(shape);
    flash_and_check(&a, 0);
}

static void run_misaligned(const long *shape)
{
    const attention a = random_attention(shape);
    flash_and_check(&a, 4);
}

static void run_without_lse(const long *shape)
{
    const attention a = random_attention(shape);
    float *out = f32_array(a.size);
    flash(&a, out, null_pointer(), 0);
    expect_attention(out, NULL, &a);
}

/* Without columns every score is 0: lse is the logarithm of how many keys there are. */
static void run_no_columns(const long *shape)
{
    const attention a = random_attention(shape);
    float *lse = f32_array(a.rows);
    double *want = f64_array(a.rows);
    for (size_t row = 0; row < a.rows; row++)
        want[row] = log(a.causal ? (double)(row % (size_t)a.seq) + 1.0 : (double)a.seq);
    flash(&a, f32_array(0), out_f32("lse", lse, a.rows), 0);
    expect_close((layout){"lse", 1, a.rows}, lse, want, NULL, FP32_NORM_TOLERANCE);
}

static void run_other_scale(const long *shape)
{
    attention a = random_attention(shape);
    a.scale *= -1.7f;
    flash_and_check(&a, 0);
}

/* Scores from `from` up or down to `to` along the keys: whoever keeps the first tile's maximum, or
 * does not shrink what was summed before, or does so the wrong way, is found. */
static void check_slope(const long *shape, float from, float to)
{
    attention a = random_attention(shape);
    a.scale = 1.0f;
    for (size_t i = 0; i < a.size; i++) {
        const size_t u = i / (size_t)a.dim % (size_t)a.seq;
        const float share = (float)u / (float)a.seq, first = from + (to - from) * share;
        a.q[i] = i % (size_t)a.dim == 0 ? 1.0f : a.q[i] / 8;
        a.k[i] = i % (size_t)a.dim == 0 ? first : a.k[i] / 8;
    }
    flash_and_check(&a, 0);
}

static void run_rising(const long *shape)
{
    check_slope(shape, -30.0f, 30.0f);
}

static void run_rising_far(const long *shape)
{
    check_slope(shape, -3000.0f, 3000.0f);
}

static void run_falling(const long *shape)
{
    check_slope(shape, 30.0f, -30.0f);
}

static void run_large_scores(const long *shape)
{
    const attention a = large_scores(shape);
    flash_and_check(&a, 0);
}

/* shape: ..., first and end of the keys that are -infinity where q is positive: of no weight */
static void run_without_weight(const long *shape)
{
    attention a = random_attention(shape);
    for (size_t i = 0; i < a.size; i++) {
        const long u = (long)(i / (size_t)a.dim) % a.seq;
        a.q[i] = fabsf(a.q[i]) + 0.01f;
        if (u >= shape[5] && u < shape[6]) a.k[i] = -INFINITY;
    }
    flash_and_check(&a, 0);
}

/* A NaN in a query is its own; one in a key is everybody's who sees it. */
static void run_nan(const long *shape)
{
    const attention a = random_attention(shape);
    const size_t dim = (size_t)a.dim, seq = (size_t)a.seq, key = seq / 2;
    const size_t query = random_below(case_random(), seq);
    float *out = f32_array(a.size), *lse = f32_array(a.rows);
    a.q[query * dim] = NAN;
    a.k[(seq + key) * dim + dim - 1] = NAN; /* of the second head */
    flash(&a, out, out_f32("lse", lse, a.rows), 0);
    for (size_t i = 0; i < a.size; i++) {
        const size_t row = i / dim;
        const bool lost = row == query || (row / seq == 1 && (!a.causal || row % seq >= key));
        expect((bool)isnan(out[i]) == lost && (bool)isnan(lse[row]) == lost,
               "out[%zu][%zu] is %g and lse %g; a NaN is in query %zu of head 0 and in key %zu of "
               "head 1",
               row, i % dim, out[i], lse[row], query, key);
    }
}

/* What comes after a query changes no bit of what it gets. */
static void run_future(const long *shape)
{
    const attention a = random_attention(shape);
    const size_t first = (size_t)(a.seq - a.seq / 3), dim = (size_t)a.dim; /* that changes */
    float *before = f32_array(a.size), *after = f32_array(a.size);
    flash(&a, before, null_pointer(), 0);
    for (size_t i = 0; i < a.size; i++) {
        if (i / dim % (size_t)a.seq >= first) a.k[i] *= 3.0f, a.v[i] += 7.0f, a.q[i] -= 1.0f;
    }
    flash(&a, after, null_pointer(), 0);
    for (size_t i = 0; i < a.size; i++) {
        const size_t t = i / dim % (size_t)a.seq;
        expect(t >= first || before[i] == after[i],
               "query %zu got %.9g, and %.9g when tokens from %zu on were others", t, before[i],
               after[i], first);
    }
    expect_attention(after, NULL, &a);
}

/* One column too many is refused, and the next call is as if nothing had been. */
static void run_too_wide(const long *shape)
{
    const attention a = random_attention(shape);
    float *out = f32_array(a.size);
    call_refused(REFUSED, "attention_flash",
                 ARGS(inout_f32("out", out, a.size), null_pointer(), in_f32("q", a.q, a.size),
                      in_f32("k", a.k, a.size), in_f32("v", a.v, a.size), ATTENTION_SHAPE(&a)));
    long narrower[5];
    memcpy(narrower, shape, sizeof narrower);
    narrower[3]--;
    run_flash(narrower);
}

static void run_timed(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    float *out = f32_array(a.size), *lse = f32_array(a.rows);
    call_cuda(function, ARGS(out_f32("out", out, a.size), out_f32("lse", lse, a.rows),
                             in_f32("q", a.q, a.size), in_f32("k", a.k, a.size),
                             in_f32("v", a.v, a.size), ATTENTION_SHAPE(&a)));
    if (strncmp(function, "baseline_", 9) != 0) expect_attention(out, lse, &a);
}

#define FLASH(text, ...)                                                                           \
    {                                                                                              \
        .name = "flash " text, .run = run_flash, .shape = { __VA_ARGS__ }                          \
    }
#define ON_A_GPU(text, ...)                                                                        \
    {                                                                                              \
        .name = "flash " text, .run = run_flash, .shape = {__VA_ARGS__}, .where = ON_GPU,          \
        .once = true                                                                               \
    }

static const grading_case cases[] = {
    FLASH("1x1x1x1", 1, 1, 1, 1, 0),
    FLASH("1x2x7x16", 1, 2, 7, 16, 0),
    FLASH("causal 2x2x7x5", 2, 2, 7, 5, 1),
    FLASH("1x1x63x64", 1, 1, 63, 64, 0),
    FLASH("causal 1x1x63x32", 1, 1, 63, 32, 1),
    FLASH("1x2x65x33", 1, 2, 65, 33, 0),
    FLASH("causal 1x1x65x64", 1, 1, 65, 64, 1),
    FLASH("causal 2x1x130x128", 2, 1, 130, 128, 1),
    FLASH("1x1x33x100", 1, 1, 33, 100, 0),
    FLASH("0x2x5x4", 0, 2, 5, 4, 0),
    FLASH("2x2x0x4", 2, 2, 0, 4, 1),
    LONG_ROW("flash causal 1x1x1000x8", run_flash, 1, 1, 1000, 8, 1),
    LONG_ROW("flash 1x1x1030x2", run_flash, 1, 1, 1030, 2, 0),
    LONG_ROW("flash 1x300x1x2", run_flash, 1, 300, 1, 2, 0),
    LONG_ROW("flash causal 300x1x2x1", run_flash, 300, 1, 2, 1, 1),
    {.name = "flash any shape",
     .run = run_flash,
     .shape = {1, 1, 1, 1, 0},
     .most = {3, 3, 150, 128, 1}},
    {.name = "no columns", .run = run_no_columns, .shape = {1, 2, 70, 0, 1}},
    {.name = "lse is NULL", .run = run_without_lse, .shape = {1, 2, 40, 24, 1}},
    {.name = "another scale", .run = run_other_scale, .shape = {1, 2, 70, 24, 1}},
    {.name = "rising scores", .run = run_rising, .shape = {1, 1, 270, 8, 0}},
    {.name = "rising scores, causal", .run = run_rising, .shape = {1, 1, 270, 8, 1}},
    {.name = "scores that rise far", .run = run_rising_far, .shape = {1, 1, 270, 8, 0}},
    {.name = "falling scores", .run = run_falling, .shape = {1, 1, 270, 8, 0}},
    {.name = "scores of 10000", .run = run_large_scores, .shape = {1, 2, 140, 16, 1}},
    {.name = "first keys without weight",
     .run = run_without_weight,
     .shape = {1, 1, 200, 9, 0, 0, 140}},
    {.name = "first keys without weight, causal",
     .run = run_without_weight,
     .shape = {1, 1, 200, 9, 1, 0, 140}},
    {.name = "last keys without weight",
     .run = run_without_weight,
     .shape = {1, 1, 200, 9, 0, 60, 200}},
    {.name = "no key with weight", .run = run_without_weight, .shape = {1, 2, 70, 9, 0, 0, 70}},
    {.name = "nan", .run = run_nan, .shape = {1, 3, 134, 6, 0}},
    {.name = "nan, causal", .run = run_nan, .shape = {1, 3, 134, 6, 1}},
    {.name = "the future", .run = run_future, .shape = {1, 2, 145, 12, 1}},
    {.name = "misaligned", .run = run_misaligned, .shape = {1, 2, 80, 16, 1}},
    {.name = "129 columns", .run = run_too_wide, .shape = {1, 1, 20, 129, 0}},
    ON_A_GPU("1x3x1000x64", 1, 3, 1000, 64, 0),
    ON_A_GPU("causal 2x3x1000x128", 2, 3, 1000, 128, 1),
    ON_A_GPU("causal 70001x1x3x4", 70001, 1, 3, 4, 1),
    ON_A_GPU("1x70001x2x32", 1, 70001, 2, 32, 0),
    ON_A_GPU("1x1x65536x64", 1, 1, 65536, 64, 0),
    ON_A_GPU("causal 1x2x65536x64", 1, 2, 65536, 64, 1),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "three kernels with all scores in memory",
                .shape = "causal 1 × 32 × 4096 × 64"},
     .function = "attention_flash",
     .baseline = "baseline_attention",
     .run = run_timed,
     .shape = {1, 32, 4096, 64, 1},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 1.5,
     .flop = 2.0 * 32 * 4096 * 4096 * 64},
    {0},
};

#define ARRAYS(rows, dim) (4.0 * (rows) * (4 * (dim) + 1)) /* bytes of q, k, v, out and lse */

static const traffic_test traffic[] = {
    {.metric = {"bytes touched", .relative_to = "bytes of the arrays",
                .shape = "causal 1 × 1 × 1024 × 32"},
     .function = "attention_flash",
     .run = run_timed,
     .shape = {1, 1, 1024, 32, 1},
     .count = footprint_bytes,
     .ideal = ARRAYS(1024, 32),
     .bound = AT_MOST,
     .wanted = 1.2},
    {.metric = {"operations", .relative_to = "those of two products", .shape = "1 × 1 × 256 × 64"},
     .function = "attention_flash",
     .run = run_timed,
     .shape = {1, 1, 256, 64, 0},
     .count = operations,
     .ideal = 4.0 * 256 * 256 * 64,
     .bound = AT_MOST,
     .wanted = 1.1},
    {.metric = {"operations", .relative_to = "those of two half products",
                .shape = "causal 1 × 1 × 1024 × 64"},
     .function = "attention_flash",
     .run = run_timed,
     .shape = {1, 1, 1024, 64, 1},
     .count = operations,
     .ideal = 2.0 * 1024 * 1024 * 64,
     .bound = AT_MOST,
     .wanted = 1.1},
    {.metric = {"DRAM bytes", .relative_to = "bytes of the arrays", .shape = "1 × 1 × 512 × 64"},
     .function = "attention_flash",
     .run = run_timed,
     .shape = {1, 1, 512, 64, 0},
     .count = moved_bytes,
     .ideal = ARRAYS(512, 64),
     .bound = AT_MOST,
     .wanted = 6.0},
    {.metric = {"shared-memory requests", .per = "warp FMA", .shape = "1 × 1 × 256 × 64"},
     .function = "attention_flash",
     .run = run_timed,
     .shape = {1, 1, 256, 64, 0},
     .count = shared_requests,
     .ideal = 2.0 * 256 * 256 * 64 / 32,
     .bound = AT_MOST,
     .wanted = 0.2},
    {0},
};

EXERCISE(409) = {
    .id = 409,
    .core = true,
    .name = "flash_attention",
    .file = "phase4_optimization/409_flash_attention/409_flash_attention.cu",
    .functions = {"attention_flash"},
    .baseline_file = "grader/exercises/409_flash_attention/baseline.cu",
    .exponentials = true,
    .masks = true,
    .points = 15,
    .speed_points = 10,
    .see = "flash causal 1x1x65x64",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
