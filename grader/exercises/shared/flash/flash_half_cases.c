/* flash_half_cases.c: calls of attention in bf16. What q, k and v are after rounding is what
 * counts; then out is as 409's but for one rounding of the weights, which are bf16 too, and one of
 * out; lse is fp32 as there. */
#include "flash_half_cases.h"

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
static outputs call(const char *function, attention *a, bool with_lse, unsigned shift)
{
    const outputs o = {array_of(ELEMENT_BF16, a->size), f32_array(a->rows)};
    const argument lse = with_lse ? out_f32("lse", o.lse, a->rows) : null_pointer();
    const argument q = attention_half_in("q", a->q, a->size, shift);
    const argument k = attention_half_in("k", a->k, a->size, 3 * shift);
    const argument v = attention_half_in("v", a->v, a->size, 5 * shift);
    call_cuda(function, ARGS(shifted(out_of(ELEMENT_BF16, "out", o.out, a->size), 2 * shift), lse,
                             q, k, v, ATTENTION_SHAPE(a)));
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

void flash_half_check(const char *function, attention a, unsigned shift)
{
    const outputs o = call(function, &a, true, shift);
    expect_outputs(&o, true, &a);
}

/* ---- cases ----------------------------------------------------------------------------------- */

void flash_half_without_lse(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    const outputs o = call(function, &a, false, 0);
    expect_outputs(&o, false, &a);
}

/* Any causal but 0 is one. */
void flash_half_other_scale(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    a.causal *= 2;
    a.scale *= -1.7f;
    flash_half_check(function, a, 0);
    a.scale = 0.0f;
    flash_half_check(function, a, 0);
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

/* The scores of one query in 16 alone slope; it is in the upper or the lower half of these. */
static attention few_sloping(const long *shape, float first, float last)
{
    attention a = sloping(shape, first, last);
    const size_t dim = (size_t)a.dim;
    for (size_t row = 0; row < a.rows; row++)
        if (row % 32 != 12 && row % 32 != 20) a.q[row * dim] = 0.0f;
    return a;
}

void flash_half_rising(const char *function, const long *shape)
{
    flash_half_check(function, few_sloping(shape, -9000.0f, -1000.0f), 0);
    flash_half_check(function, sloping(shape, -60.0f, 60.0f), 0);
    flash_half_check(function, sloping(shape, -5.0f, 5.0f), 0); /* few at a time */
    flash_half_check(function, sloping(shape, -3000.0f, 1000.0f), 0);
}

void flash_half_falling(const char *function, const long *shape)
{
    flash_half_check(function, few_sloping(shape, -1000.0f, -9000.0f), 0);
    flash_half_check(function, sloping(shape, 60.0f, -60.0f), 0);
    flash_half_check(function, sloping(shape, -1000.0f, -9000.0f), 0);
}

/* Scores of -infinity, in the first tile too: they have no weight. A head has nothing else. */
void flash_half_without_weight(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    const size_t dim = (size_t)a.dim, seq = (size_t)a.seq;
    for (size_t i = 0; i < a.size; i++) a.q[i] = fabsf(a.q[i]) + 0.01f;
    for (size_t i = 0; i < a.size; i++) {
        if (i / dim >= seq || i / dim < seq - 5 || i / dim % 2) a.k[i] = -INFINITY;
    }
    flash_half_check(function, a, 0);
}

/* A NaN in a query is its own; one in the first value of the second head is of that head. */
void flash_half_nan(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    const size_t dim = (size_t)a.dim, query = random_below(case_random(), a.rows);
    a.q[query * dim + random_below(case_random(), dim)] = NAN;
    const outputs o = call(function, &a, true, 0);
    const float *out = f32_of(ELEMENT_BF16, o.out, a.size);
    for (size_t i = 0; i < a.size; i++)
        expect((bool)isnan(out[i]) == (i / dim == query),
               "out[%zu][%zu] is %g; a NaN is in query %zu alone", i / dim, i % dim, out[i], query);
    expect(isnan(o.lse[query]), "lse[%zu] is %g, but there is a NaN in its query", query,
           o.lse[query]);
    attention other = random_attention(shape);
    other.causal = 0;
    other.v[shape[2] * shape[3]] = NAN;
    flash_half_check(function, other, 0);
}

/* What comes after a query changes no bit of what it gets. */
static void expect_past(const attention *a, const outputs *before, const outputs *after,
                        size_t first)
{
    const size_t seq = (size_t)a->seq, dim = (size_t)a->dim;
    for (size_t row = 0; row < a->rows; row++) {
        const char *one = (char *)before->out + 2 * row * dim,
                   *other = (char *)after->out + 2 * row * dim;
        expect(row % seq >= first ||
                   (memcmp(one, other, 2 * dim) == 0 && before->lse[row] == after->lse[row]),
               "query %zu got other bits when tokens from %zu on were changed", row % seq, first);
    }
}

void flash_half_future(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    const outputs before = call(function, &a, true, 0);
    const size_t seq = (size_t)a.seq, dim = (size_t)a.dim, first = seq - seq / 3;
    for (size_t i = 0; i < a.size; i++) {
        if (i / dim % seq >= first) a.k[i] *= 3.0f, a.v[i] += 7.0f, a.q[i] -= 1.0f;
    }
    const outputs after = call(function, &a, true, 0);
    expect_past(&a, &before, &after, first);
    expect_outputs(&after, true, &a);
}

/* Scores so steep that those of later queries alone rise by more than 8 from tile to tile. */
static void expect_own_rise(const char *function, attention a)
{
    const outputs before = call(function, &a, true, 0);
    const size_t seq = (size_t)a.seq, dim = (size_t)a.dim, first = seq - seq / 3;
    for (size_t i = 0; i < a.size; i++) {
        if (i / dim % seq >= first) a.q[i] *= 4.0f;
    }
    const outputs after = call(function, &a, true, 0);
    expect_past(&a, &before, &after, first);
    expect_outputs(&after, true, &a);
}

void flash_half_own_rise(const char *function, const long *shape)
{
    expect_own_rise(function, sloping(shape, 4.0f, -4.0f));
    expect_own_rise(function, sloping(shape, -4.0f, 4.0f));
}

void flash_half_refused(const char *function, const long *shape)
{
    static const int dims[] = {0, 1, 32, 96, 256, 32};
    const size_t size = (size_t)(shape[0] * shape[1] * shape[2]) * 256;
    void *x = array_of(ELEMENT_BF16, size);
    for (int i = 0; i < 6; i++) {
        const int seq = i < 5 ? (int)shape[2] : 0; /* of nothing, too */
        void *out = array_of(ELEMENT_BF16, size);
        call_refused(INVALID_VALUE, function,
                     ARGS(out_of(ELEMENT_BF16, "out", out, size), null_pointer(),
                          in_of(ELEMENT_BF16, "q", x, size), in_of(ELEMENT_BF16, "k", x, size),
                          in_of(ELEMENT_BF16, "v", x, size), i32((int)shape[0]), i32((int)shape[1]),
                          i32(seq), i32(dims[i]), i32(0), f32(1.0f), stream()));
    }
    flash_half_check(function, random_attention(shape), 0);
}
