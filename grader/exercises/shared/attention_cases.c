#include "attention_cases.h"
#include "norm_cases.h"

#include <math.h>
#include <string.h>

#define FULL_CHECK   30000000UL /* multiplications of a reference that is computed in full */
#define SAMPLED_ROWS 60

attention random_attention(const long *shape)
{
    attention a = {
        .batch = shape[0], .heads = shape[1], .seq = shape[2], .dim = shape[3], .causal = shape[4]};
    a.rows = (size_t)(a.batch * a.heads * a.seq);
    a.size = a.rows * (size_t)a.dim;
    a.scale = 1.0f / sqrtf((float)(a.dim > 0 ? a.dim : 1));
    a.q = random_f32_between(a.size, -2.0f, 2.0f);
    a.k = random_f32_between(a.size, -2.0f, 2.0f);
    a.v = random_f32(a.size);
    return a;
}

attention large_scores(const long *shape)
{
    attention a = random_attention(shape);
    a.scale = 1.0f;
    memset(a.q, 0, a.size * sizeof *a.q);
    for (size_t i = 0; i < a.size; i += (size_t)a.dim) {
        a.q[i] = 100.0f;
        a.k[i] = random_below(case_random(), 2) ? 100.0f : -100.0f;
    }
    return a;
}

/* ---- a row ----------------------------------------------------------------------------------- */

typedef enum mistake {
    NONE,
    NO_SCALE,
    SCALE_OF_DIM, /* 1 / dim for 1 / sqrt(dim) */
    NO_MASK,
    NOT_ITSELF,       /* u < t */
    NEXT_KEY,         /* u <= t + 1 */
    MASKED_LOWER,     /* u >= t */
    ZEROS_FOR_MASKED, /* a score of 0 in place of no weight */
    STALE_SCORES,     /* behind the mask the score stays where a weight belongs */
    KEPT_BY_32,       /* the sums by tiles of 32 keys do not shrink when the maximum grows */
    KEPT_BY_64,
} mistake;

attention_row new_attention_row(const attention *a)
{
    return (attention_row){.p = f64_array((size_t)a->seq), .out = f64_array((size_t)a->dim)};
}

/* Does query t see key u? */
static bool sees(const attention *a, long t, long u, mistake m)
{
    if (!a->causal || m == NO_MASK || m == ZEROS_FOR_MASKED) return true;
    return m == NOT_ITSELF     ? u < t
           : m == NEXT_KEY     ? u <= t + 1
           : m == MASKED_LOWER ? u >= t
                               : u <= t;
}

/* @param size receives the sum of the absolute terms */
static double score(const attention *a, const float *q, const float *k, mistake m, double *size)
{
    const double scale = m == NO_SCALE       ? 1.0
                         : m == SCALE_OF_DIM ? (double)a->scale * a->scale
                                             : (double)a->scale;
    double sum = 0.0;
    *size = 0.0;
    for (long i = 0; i < a->dim; i++) {
        sum += (double)q[i] * k[i];
        *size += fabs((double)q[i] * k[i]);
    }
    *size *= fabs(scale);
    return sum * scale;
}

static double largest_of_tile(const double *scores, long first, long end, long tile)
{
    double largest = -INFINITY;
    for (long u = first; u < end && u < first + tile; u++) largest = fmax(largest, scores[u]);
    return largest;
}

static void row_of(attention_row *r, const attention *a, size_t row, mistake m)
{
    const long t = (long)(row % (size_t)a->seq);
    const size_t head = (row - (size_t)t) * (size_t)a->dim; /* where the head's arrays begin */
    const float *q = a->q + row * (size_t)a->dim;
    double top = -INFINITY, sum = 0.0;
    r->blur = 0.0;
    for (long u = 0; u < a->seq; u++) {
        double size;
        r->p[u] = score(a, q, a->k + head + u * a->dim, m, &size);
        if (m == ZEROS_FOR_MASKED && u > t) r->p[u] = 0.0;
        if (!sees(a, t, u, m)) r->p[u] = -INFINITY;
        if (isfinite(r->p[u])) r->blur = fmax(r->blur, size);
        top = isnan(r->p[u]) ? NAN : fmax(top, r->p[u]);
    }
    double seen = -INFINITY; /* the maximum up to the tile of u */
    for (long u = 0; u < a->seq; u++) {
        if (m >= KEPT_BY_32 && u % (m == KEPT_BY_32 ? 32 : 64) == 0)
            seen = fmax(seen, largest_of_tile(r->p, u, a->seq, m == KEPT_BY_32 ? 32 : 64));
        const double weight = r->p[u] == -INFINITY ? 0.0 : exp(r->p[u] - top);
        sum += weight;
        r->p[u] = m >= KEPT_BY_32 && weight > 0.0 ? exp(r->p[u] - seen) : weight;
    }
    r->lse = sum == 0.0 ? -INFINITY : top + log(sum);
    memset(r->out, 0, (size_t)a->dim * sizeof *r->out);
    for (long u = 0; u < a->seq; u++) {
        double unused;
        if (sum > 0.0 || isnan(sum)) r->p[u] /= sum;
        if (m == STALE_SCORES && u > t) r->p[u] = score(a, q, a->k + head + u * a->dim, m, &unused);
        for (long i = 0; i < a->dim && r->p[u] != 0.0; i++)
            r->out[i] += r->p[u] * a->v[head + (size_t)(u * a->dim + i)];
    }
}

void reference_attention_row(attention_row *r, const attention *a, size_t row)
{
    row_of(r, a, row, NONE);
}

int *attention_rows(const attention *a, size_t full_check, size_t sampled, size_t *count)
{
    const bool all = a->size * (size_t)a->seq <= full_check;
    *count = all ? a->rows : sampled;
    int *rows = random_i32(*count, 0, (int)a->rows);
    for (size_t i = 0; i < *count && all; i++) rows[i] = (int)i;
    rows[*count - 1] = (int)a->rows - 1;
    return rows;
}

double roundings_of_row(const attention_row *r, const attention *a)
{
    return 5.0 * drift_of(a->seq) + 2.0 * r->blur;
}

double attention_scale(const attention_row *r, const attention *a, size_t row, long i)
{
    const float *v = a->v + row / (size_t)a->seq * (size_t)(a->seq * a->dim);
    double size = 0.0;
    for (long u = 0; u < a->seq; u++) {
        if (r->p[u] != 0.0) size += r->p[u] * fabs(v[u * a->dim + i]);
    }
    return size * roundings_of_row(r, a);
}

/* ---- all rows -------------------------------------------------------------------------------- */

/* out as the mistake has it, of the rows that are looked at */
static double *wrong_rows(const attention *a, const int *rows, size_t count, mistake m)
{
    double *out = f64_array(count * (size_t)a->dim);
    attention_row r = new_attention_row(a);
    for (size_t i = 0; i < count; i++) {
        row_of(&r, a, (size_t)rows[i], m);
        memcpy(out + i * (size_t)a->dim, r.out, (size_t)a->dim * sizeof *out);
    }
    return out;
}

/* The softmax of each column of the scores: over the queries that see a key. Of small arrays. */
static double *columns_for_rows(const attention *a)
{
    double *out = f64_array(a->size);
    double *p = f64_array((size_t)a->seq);
    for (size_t row = 0; row < a->rows; row++) {
        const size_t u = row % (size_t)a->seq, head = row - u; /* key `row` of its head */
        double size, sum = 0.0;
        memset(p, 0, (size_t)a->seq * sizeof *p);
        for (size_t t = 0; t < (size_t)a->seq; t++) {
            if (!sees(a, (long)t, (long)u, NONE)) continue;
            p[t] = exp(score(a, a->q + (head + t) * (size_t)a->dim, a->k + row * (size_t)a->dim,
                             NONE, &size));
            sum += p[t];
        }
        for (size_t t = 0; t < (size_t)a->seq; t++) {
            for (long i = 0; i < a->dim; i++)
                out[(head + t) * (size_t)a->dim + (size_t)i] +=
                    p[t] / sum * a->v[row * (size_t)a->dim + (size_t)i];
        }
    }
    return out;
}

/* out where v is multiplied as a [dim x seq]: [seq x seq] of each head, the rest as it was. Of
 * small arrays, where seq < dim.
 * @param turned v is transposed, not only read so */
static double *with_v_across(const attention *a, bool turned)
{
    double *out = f64_array(a->size);
    attention_row r = new_attention_row(a);
    for (size_t i = 0; i < a->size; i++) out[i] = NAN; /* never written */
    for (size_t row = 0; row < a->rows; row++) {
        const float *v = a->v + row / (size_t)a->seq * (size_t)(a->seq * a->dim);
        row_of(&r, a, row, NONE);
        for (long l = 0; l < a->seq; l++) {
            double sum = 0.0;
            for (long u = 0; u < a->seq; u++)
                sum += r.p[u] * v[turned ? l * a->dim + u : u * a->seq + l];
            out[row * (size_t)a->seq + (size_t)l] = sum;
        }
    }
    return out;
}

static void suspect_attention(const attention *a, const int *rows, size_t count)
{
    suspect("the scores are not scaled", wrong_rows(a, rows, count, NO_SCALE));
    suspect("the scale is 1 / dim, or its square", wrong_rows(a, rows, count, SCALE_OF_DIM));
    if (a->causal) {
        suspect("the mask is left out", wrong_rows(a, rows, count, NO_MASK));
        suspect("the mask is off by one: a query must see itself, too",
                wrong_rows(a, rows, count, NOT_ITSELF));
        suspect("the mask is off by one: a query sees the key after it",
                wrong_rows(a, rows, count, NEXT_KEY));
        suspect("the wrong triangle is masked", wrong_rows(a, rows, count, MASKED_LOWER));
        suspect("masked scores keep their values: their weights must be 0",
                wrong_rows(a, rows, count, STALE_SCORES));
        suspect("a masked score is 0, which has weight: it must be -infinity",
                wrong_rows(a, rows, count, ZEROS_FOR_MASKED));
    }
    suspect("the sums so far are not rescaled when the maximum grows",
            wrong_rows(a, rows, count, KEPT_BY_32));
    suspect("the sums so far are not rescaled when the maximum grows",
            wrong_rows(a, rows, count, KEPT_BY_64));
    if (count == a->rows)
        suspect("the softmax is over the queries of a key, not over the keys of a query",
                columns_for_rows(a));
    if (count == a->rows && a->seq < a->dim) {
        suspect("v is read as if it were dim x seq", with_v_across(a, false));
        suspect("v is transposed: it is seq x dim, as p v needs it", with_v_across(a, true));
    }
}

static void expect_rows(const float *out, const float *lse, const attention *a, const int *rows,
                        size_t count)
{
    const size_t dim = (size_t)a->dim;
    double *want = f64_array(count * dim), *scale = f64_array(count * dim);
    double *want_lse = f64_array(count), *lse_scale = f64_array(count);
    float *got = f32_array(count * dim), *got_lse = f32_array(count);
    attention_row r = new_attention_row(a);
    for (size_t i = 0; i < count; i++) {
        const size_t row = (size_t)rows[i];
        reference_attention_row(&r, a, row);
        memcpy(want + i * dim, r.out, dim * sizeof *want);
        memcpy(got + i * dim, out + row * dim, dim * sizeof *got);
        for (size_t j = 0; j < dim; j++) scale[i * dim + j] = attention_scale(&r, a, row, (long)j);
        want_lse[i] = r.lse;
        lse_scale[i] = roundings_of_row(&r, a) + (isfinite(r.lse) ? fabs(r.lse) : 0.0);
        got_lse[i] = lse ? lse[row] : 0.0f;
    }
    const layout l = {"out", count, dim};
    if (!is_close(l, got, want, scale, FP32_SUM_TOLERANCE)) suspect_attention(a, rows, count);
    expect_close(l, got, want, scale, FP32_SUM_TOLERANCE);
    if (lse)
        expect_close((layout){"lse", 1, count}, got_lse, want_lse, lse_scale, FP32_SUM_TOLERANCE);
}

void expect_attention(const float *out, const float *lse, const attention *a)
{
    if (a->size == 0) return;
    size_t count;
    const int *rows = attention_rows(a, FULL_CHECK, SAMPLED_ROWS, &count);
    expect_rows(out, lse, a, rows, count);
}
