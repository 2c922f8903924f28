/*
 * compare.c: compare the results with the expected values. Every comparison is written
 * !(difference <= bound), so that NaN is never close to anything.
 */
#include "running.h"

#include "mistakes/mistakes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL_CHECK_TERMS 300000000L /* a matmul with more products than this is sampled */
#define SAMPLES          4096

static bool close_enough(float got, double want, double bound)
{
    if (isnan(want)) return isnan(got);
    if (isinf(want)) return (double)got == want;
    return fabs((double)got - want) <= bound;
}

static double bound_of(size_t i, const double *want, const double *scale, double tolerance)
{
    return tolerance * (scale ? scale[i] : fmax(1.0, fabs(want[i])));
}

typedef struct comparison {
    const float *got;
    const double *want, *scale;
    double tolerance;
} comparison;

static bool is_wrong(size_t i, const void *context)
{
    const comparison *c = context;
    return !close_enough(c->got[i], c->want[i], bound_of(i, c->want, c->scale, c->tolerance));
}

bool is_close(layout l, const float *got, const double *want, const double *scale, double tolerance)
{
    const size_t count = l.rows * l.cols;
    const comparison c = {got, want, scale, tolerance};
    return parallel_find(count, 1, is_wrong, &c) == count;
}

const double *not_finite_as_got(const double *want, const float *got, size_t count)
{
    double *either = f64_array(count);
    for (size_t i = 0; i < count; i++)
        either[i] = isfinite(want[i]) || isfinite(got[i]) ? want[i] : (double)got[i];
    return either;
}

/* The likely mistake: what softgpu saw, else what the wrong elements have in common. */
static const char *likely_mistake(const mismatch *m)
{
    const char *seen = running->found_count ? symptom_name(running->found[0].what.cause) : "";
    return *seen ? seen : pattern_name(m);
}

typedef struct index_words {
    char text[64];
} index_words;

/* [row][column], or of a vector [element] */
static index_words index_of(layout l, size_t i)
{
    index_words w;
    if (l.rows > 1)
        snprintf(w.text, sizeof w.text, "[%zu][%zu]", i / l.cols, i % l.cols);
    else
        snprintf(w.text, sizeof w.text, "[%zu]", i);
    return w;
}

static void fail_mismatch(const mismatch *m)
{
    const layout l = m->where;
    const char *mistake = likely_mistake(m);
    result_keep(l, m->got, m->want); /* the next call may give it again */
    free(running->mistake);
    running->mistake = strdup(mistake);
    fail("%s%s is %.9g, should be %.9g; %zu of %zu wrong%s", l.name, index_of(l, m->first).text,
         m->got[m->first], m->want[m->first], m->count, l.rows * l.cols, mistake);
}

static mismatch mismatch_of(layout l, const float *got, const double *want)
{
    const double *want_before = NULL;
    const float *before = result_of_call_before(l, &want_before);
    return (mismatch){.where = l,
                      .got = got,
                      .want = want,
                      .before = before,
                      .want_before = want_before,
                      .sizes = running->sizes,
                      .size_count = running->size_count,
                      .exponentials = running->exercise->exponentials,
                      .masks = running->exercise->masks,
                      .on_cpu = running->place == ON_HOST};
}

void expect_close(layout l, const float *got, const double *want, const double *scale,
                  double tolerance)
{
    const size_t size = l.rows * l.cols;
    if (is_close(l, got, want, scale, tolerance)) {
        result_keep(l, got, want);
        suspects_forget();
        return;
    }
    bool *bad = (bool *)f32_array(size / sizeof(float) + 1); /* freed with the case */
    double *bound = f64_array(size);
    mismatch m = mismatch_of(l, got, want);
    for (size_t i = 0; i < size; i++) {
        bound[i] = bound_of(i, want, scale, tolerance);
        bad[i] = !close_enough(got[i], want[i], bound[i]);
        if (bad[i] && m.count++ == 0) m.first = i;
    }
    m.bad = bad, m.bound = bound;
    fail_mismatch(&m);
}

/* The first that is wrong, or how many there are. */
static size_t first_wrong_f64(const double *got, const double *want, const double *bound,
                              size_t count)
{
    size_t i = 0;
    while (i < count && (isnan(want[i]) ? isnan(got[i])
                                        : got[i] == want[i] || fabs(got[i] - want[i]) <= bound[i]))
        i++;
    return i;
}

/* Of doubles the message and its pattern are those of floats, unless floats would all be right. */
void expect_close_of(layout l, element_type e, const void *got, const double *want,
                     const double *scale, double tolerance)
{
    const size_t count = l.rows * l.cols;
    double *bound = f64_array(count);
    for (size_t i = 0; i < count; i++) {
        bound[i] = bound_of(i, want, scale, tolerance);
        bound[i] += element_rounding(e, fabs(want[i]) + bound[i]);
    }
    const size_t first = e == ELEMENT_F64 ? first_wrong_f64(got, want, bound, count) : count;
    for (size_t i = 0; i < count && e == ELEMENT_F64; i++)
        bound[i] += element_rounding(ELEMENT_F32, want[i]);
    expect_close(l, f32_of(e, got, count), want, bound, 1);
    expect(first == count, "%s%s is %.17g, should be %.17g", l.name, index_of(l, first).text,
           element_value(e, got, first), want[first]);
}

const char *place_of(layout l, size_t first)
{
    return pattern_name(&(mismatch){.where = l, .first = first, .count = 1});
}

/* The norm of sums whose terms have random signs: what `want` is, unless its sums happen to cancel.
 */
static double usual_norm(const double *scale, size_t count, long terms)
{
    double squares = 0.0;
    for (size_t i = 0; scale && i < count; i++) squares += scale[i] * scale[i];
    return terms > 0 ? sqrt(squares / (double)terms) : 0.0;
}

#define PLAUSIBLE 0.01 /* twice what bf16 makes of a norm: what is more is no matter of digits */

/* Of those that are further off than the array may be: what they have in common. */
static const char *mistake_of_norm(layout l, const float *got, const double *want, double most)
{
    const size_t count = l.rows * l.cols;
    bool *bad = (bool *)f32_array(count / sizeof(float) + 1);
    double *bound = f64_array(count);
    mismatch m = mismatch_of(l, got, want);
    for (size_t i = 0; i < count; i++) {
        bound[i] = most / sqrt((double)count);
        bad[i] = !close_enough(got[i], want[i], bound[i]);
        if (bad[i] && m.count++ == 0) m.first = i;
    }
    m.bad = bad, m.bound = bound;
    return m.count > 0 ? likely_mistake(&m) : "";
}

void expect_norm_close(layout l, const float *got, const double *want, const double *scale,
                       long terms, double tolerance)
{
    const size_t count = l.rows * l.cols;
    double difference = 0.0, norm = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(want[i])) continue; /* that is compared element by element */
        difference += (got[i] - want[i]) * (got[i] - want[i]);
        norm += want[i] * want[i];
    }
    difference = sqrt(difference);
    norm = fmax(sqrt(norm), usual_norm(scale, count, terms));
    if (difference <= tolerance * norm) {
        suspects_forget();
        return;
    }
    if (difference <= PLAUSIBLE * norm)
        fail("%s differs by %.3g of its norm; fp32 stays below %.0e (lower precision, or "
             "terms left out?)",
             l.name, difference / norm, tolerance);
    fail("%s differs by %.3g of its norm, should be below %.0e%s", l.name, difference / norm,
         tolerance, mistake_of_norm(l, got, want, tolerance * norm));
}

/* As floats, of which a pattern is found. What nothing has written stays that. */
static const float *floats_of(const int *x, size_t count)
{
    const unsigned poison = POISON_F32;
    float *all = f32_array(count);
    for (size_t i = 0; i < count; i++) {
        all[i] = (float)x[i];
        if ((unsigned)x[i] == POISON_I32) memcpy(&all[i], &poison, sizeof poison);
    }
    return all;
}

void expect_equal_i32(layout l, const int *got, const int *want)
{
    const size_t size = l.rows * l.cols;
    if (size == 0 || memcmp(got, want, size * sizeof *got) == 0) {
        suspects_forget();
        return;
    }
    bool *bad = (bool *)f32_array(size / sizeof(float) + 1);
    double *right = f64_array(size);
    mismatch m = mismatch_of(l, floats_of(got, size), right);
    for (size_t i = 0; i < size; i++) {
        right[i] = want[i];
        bad[i] = got[i] != want[i];
        if (bad[i] && m.count++ == 0) m.first = i;
    }
    m.bad = bad, m.bound = f64_array(size);
    const char *mistake = likely_mistake(&m);
    free(running->mistake);
    running->mistake = strdup(mistake);
    fail("%s%s is %d, should be %d; %zu of %zu wrong%s", l.name, index_of(l, m.first).text,
         got[m.first], want[m.first], m.count, size, mistake);
}

void expect_near(const char *what, double got, double want, double tolerance)
{
    const float rounded = (float)got;
    const double bound = tolerance * fmax(1.0, fabs(want));
    mismatch m = mismatch_of((layout){what, 1, 1}, &rounded, &want);
    m.bound = &bound, m.bad = &(bool){true}, m.count = 1;
    const bool near = fabs(got - want) <= bound;
    const char *mistake = near ? "" : likely_mistake(&m);
    suspects_forget();
    result_keep(m.where, &rounded, &want);
    if (!near) {
        free(running->mistake);
        running->mistake = strdup(mistake);
    }
    expect(near, "%s is %.9g, should be %.9g (within %.1e)%s", what, got, want, tolerance, mistake);
}

/* ---- products of matrices -------------------------------------------------------------------- */

typedef struct product {
    const float *c, *a, *b; /* [m x n] [m x k] [k x n] */
    long m, n, k;
    const int *row, *col;  /* [SAMPLES]: the elements that are looked at */
    const float *x;        /* [n], random */
    double *bx, *absolute; /* [k]: b x, and |b| |x| */
} product;

static double want_element(const product *p, size_t sample, double *scale)
{
    const long i = p->row[sample], j = p->col[sample];
    double want = *scale = 0.0;
    for (long l = 0; l < p->k; l++) {
        const double term = (double)p->a[i * p->k + l] * p->b[l * p->n + j];
        want += term;
        *scale += fabs(term);
    }
    return want;
}

static bool element_is_wrong(size_t sample, const void *context)
{
    const product *p = context;
    double scale;
    const double want = want_element(p, sample, &scale);
    const double got = p->c[p->row[sample] * p->n + p->col[sample]];
    return !(fabs(got - want) <= FP32_SUM_TOLERANCE * scale);
}

static int by_value(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Column after column, for neighbours in b lie in the same lines of a cache. */
static void expect_samples(product *p)
{
    double scale;
    p->row = random_i32(SAMPLES, 0, (int)p->m);
    int *col = random_i32(SAMPLES, 0, (int)p->n);
    qsort(col, SAMPLES, sizeof *col, by_value);
    p->col = col;
    const size_t s = parallel_find(SAMPLES, (size_t)p->k, element_is_wrong, p);
    if (s == SAMPLES) return;
    fail("c[%d][%d] is %.9g, should be %.9g (one of %d elements checked)", p->row[s], p->col[s],
         p->c[p->row[s] * p->n + p->col[s]], want_element(p, s, &scale), SAMPLES);
}

static void project_b(size_t begin, size_t end, void *context)
{
    const product *p = context;
    for (size_t l = begin; l < end; l++) {
        const float *row = p->b + (long)l * p->n;
        for (long j = 0; j < p->n; j++) {
            p->bx[l] += (double)row[j] * p->x[j];
            p->absolute[l] += fabs((double)row[j] * p->x[j]);
        }
    }
}

static double want_row(const product *p, size_t i, double *got, double *scale)
{
    double want = *got = *scale = 0.0;
    for (long j = 0; j < p->n; j++) *got += (double)p->c[(long)i * p->n + j] * p->x[j];
    for (long l = 0; l < p->k; l++) {
        want += p->a[(long)i * p->k + l] * p->bx[l];
        *scale += fabs(p->a[(long)i * p->k + l]) * p->absolute[l];
    }
    return want;
}

static bool row_is_wrong(size_t i, const void *context)
{
    double got, scale;
    const double want = want_row(context, i, &got, &scale);
    return !(fabs(got - want) <= FP32_SUM_TOLERANCE * scale);
}

/* c x = a (b x) for one random x: a wrong element anywhere in a row shows in that row. */
static void expect_projection(product *p)
{
    double got, scale;
    p->x = random_f32((size_t)p->n);
    p->bx = f64_array((size_t)p->k);
    p->absolute = f64_array((size_t)p->k);
    parallel((size_t)p->k, (size_t)p->n, project_b, p);
    const size_t i = parallel_find((size_t)p->m, (size_t)(p->n + p->k), row_is_wrong, p);
    if (i == (size_t)p->m) return;
    const double want = want_row(p, i, &got, &scale);
    fail("row %zu of c is wrong: its projection is %.9g, should be %.9g", i, got, want);
}

void expect_matmul(const float *c, const float *a, const float *b, long m, long n, long k)
{
    product p = {.c = c, .a = a, .b = b, .m = m, .n = n, .k = k};
    if (m * n * k > FULL_CHECK_TERMS) {
        expect_samples(&p);
        expect_projection(&p);
        return;
    }
    double *want = f64_array((size_t)(m * n)), *scale = f64_array((size_t)(m * n));
    layout l = {"c", (size_t)m, (size_t)n};
    reference_matmul(want, scale, a, b, m, n, k);
    if (!is_close(l, c, want, scale, FP32_SUM_TOLERANCE)) suspect_product(c, a, b, m, n, k);
    expect_close(l, c, want, scale, FP32_SUM_TOLERANCE);
    expect_norm_close(l, c, want, scale, k, FP32_NORM_TOLERANCE);
}
