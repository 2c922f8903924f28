/* flash_cases.c: calls of attention without memory for its scores, held against double. */
#include "flash_cases.h"

#include <math.h>
#include <string.h>

#define REFUSED 1 /* cudaErrorInvalidValue */

static void flash(const char *function, const attention *a, float *out, argument lse,
                  unsigned shift)
{
    call_cuda(function, ARGS(shifted(out_f32("out", out, a->size), shift), lse,
                             shifted(in_f32("q", a->q, a->size), shift),
                             shifted(in_f32("k", a->k, a->size), 2 * shift),
                             shifted(in_f32("v", a->v, a->size), 3 * shift), ATTENTION_SHAPE(a)));
}

static void check(const char *function, const attention *a, unsigned shift)
{
    float *out = f32_array(a->size), *lse = f32_array(a->rows);
    flash(function, a, out, shifted(out_f32("lse", lse, a->rows), 2 * shift), shift);
    expect_attention(out, lse, a);
}

void flash_random(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    check(function, &a, 0);
}

void flash_misaligned(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    check(function, &a, 4);
}

void flash_without_lse(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    float *out = f32_array(a.size);
    flash(function, &a, out, null_pointer(), 0);
    expect_attention(out, NULL, &a);
}

/* Without columns every score is 0: lse is the logarithm of how many keys there are. */
void flash_no_columns(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    float *lse = f32_array(a.rows);
    double *want = f64_array(a.rows);
    for (size_t row = 0; row < a.rows; row++)
        want[row] = log(a.causal ? (double)(row % (size_t)a.seq) + 1.0 : (double)a.seq);
    flash(function, &a, f32_array(0), out_f32("lse", lse, a.rows), 0);
    expect_close((layout){"lse", 1, a.rows}, lse, want, NULL, FP32_NORM_TOLERANCE);
}

/* Any causal but 0 is one. */
void flash_other_scale(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    a.scale *= -1.7f;
    a.causal *= -3;
    check(function, &a, 0);
    a.scale = 0.0f;
    check(function, &a, 0);
}

/* Scores from `from` up or down to `to` along the keys: whoever keeps the first tile's maximum, or
 * does not shrink what was summed before, or does so the wrong way, is found. */
static void check_slope(const char *function, const long *shape, float from, float to)
{
    attention a = random_attention(shape);
    a.scale = 1.0f;
    for (size_t i = 0; i < a.size; i++) {
        const size_t u = i / (size_t)a.dim % (size_t)a.seq;
        const float share = (float)u / (float)a.seq, first = from + (to - from) * share;
        a.q[i] = i % (size_t)a.dim == 0 ? 1.0f : a.q[i] / 8;
        a.k[i] = i % (size_t)a.dim == 0 ? first : a.k[i] / 8;
    }
    check(function, &a, 0);
}

void flash_rising(const char *function, const long *shape)
{
    check_slope(function, shape, -30.0f, 30.0f);
}

void flash_rising_far(const char *function, const long *shape)
{
    check_slope(function, shape, -3000.0f, 3000.0f);
}

void flash_falling(const char *function, const long *shape)
{
    check_slope(function, shape, 30.0f, -30.0f);
}

void flash_large_scores(const char *function, const long *shape)
{
    const attention a = large_scores(shape);
    check(function, &a, 0);
}

/* Keys of -infinity where q is positive have no weight. */
void flash_without_weight(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    for (size_t i = 0; i < a.size; i++) {
        const long u = (long)(i / (size_t)a.dim) % a.seq;
        a.q[i] = fabsf(a.q[i]) + 0.01f;
        if (u >= shape[5] && u < shape[6]) a.k[i] = -INFINITY;
    }
    check(function, &a, 0);
}

/* A NaN in a query is its own; one in a key is everybody's who sees it. */
void flash_nan(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    const size_t dim = (size_t)a.dim, seq = (size_t)a.seq, key = seq / 2;
    const size_t query = random_below(case_random(), seq);
    float *out = f32_array(a.size), *lse = f32_array(a.rows);
    a.q[query * dim] = NAN;
    a.k[(seq + key) * dim + dim - 1] = NAN; /* of the second head */
    flash(function, &a, out, out_f32("lse", lse, a.rows), 0);
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
void flash_future(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    const size_t first = (size_t)(a.seq - a.seq / 3), dim = (size_t)a.dim; /* that changes */
    float *before = f32_array(a.size), *after = f32_array(a.size);
    flash(function, &a, before, null_pointer(), 0);
    for (size_t i = 0; i < a.size; i++) {
        if (i / dim % (size_t)a.seq >= first) a.k[i] *= 3.0f, a.v[i] += 7.0f, a.q[i] -= 1.0f;
    }
    flash(function, &a, after, null_pointer(), 0);
    for (size_t i = 0; i < a.size; i++) {
        const size_t t = i / dim % (size_t)a.seq;
        expect(t >= first || before[i] == after[i],
               "query %zu got %.9g, and %.9g when tokens from %zu on were changed", t, before[i],
               after[i], first);
    }
    expect_attention(after, NULL, &a);
}

/* One column too many is refused, and the next call is as if nothing had been. */
void flash_too_wide(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    float *out = f32_array(a.size);
    for (int i = 0; i < 2; i++, a.seq = 0) /* of nothing, too */
        call_refused(REFUSED, function,
                     ARGS(inout_f32("out", out, a.size), null_pointer(), in_f32("q", a.q, a.size),
                          in_f32("k", a.k, a.size), in_f32("v", a.v, a.size), ATTENTION_SHAPE(&a)));
    long narrower[5];
    memcpy(narrower, shape, sizeof narrower);
    narrower[3]--;
    flash_random(function, narrower);
}

void flash_timed(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    float *out = f32_array(a.size), *lse = f32_array(a.rows);
    call_cuda(function, ARGS(out_f32("out", out, a.size), out_f32("lse", lse, a.rows),
                             in_f32("q", a.q, a.size), in_f32("k", a.k, a.size),
                             in_f32("v", a.v, a.size), ATTENTION_SHAPE(&a)));
    if (strncmp(function, "baseline_", 9) != 0) expect_attention(out, lse, &a);
}
