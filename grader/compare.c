/*
 * compare.c: what came back against what should have. Every comparison is written
 * !(difference <= bound), so that NaN is never close to anything.
 */
#include "grader.h"

#include <math.h>
#include <stdio.h>

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

bool is_close(layout l, const float *got, const double *want, const double *scale, double tolerance)
{
    for (size_t i = 0; i < l.rows * l.cols; i++) {
        if (!close_enough(got[i], want[i], bound_of(i, want, scale, tolerance))) return false;
    }
    return true;
}

/* The likely mistake: what softgpu saw, else what the wrong elements have in common. */
static const char *likely_mistake(const mismatch *m)
{
    const char *seen = now.finding ? symptom_name(now.finding) : "";
    return *seen ? seen : pattern_name(m);
}

static void fail_mismatch(const mismatch *m)
{
    char place_text[64] = "";
    const layout l = m->where;
    if (l.rows > 1) {
        snprintf(place_text, sizeof place_text, "[%zu][%zu]", m->first / l.cols, m->first % l.cols);
    } else {
        snprintf(place_text, sizeof place_text, "[%zu]", m->first);
    }
    const char *mistake = likely_mistake(m);
    result_keep(l, m->got); /* the next call may give it again */
    fail("%s%s is %.9g, should be %.9g; %zu of %zu wrong%s", l.name, place_text, m->got[m->first],
         m->want[m->first], m->count, l.rows * l.cols, mistake);
}

static mismatch mismatch_of(layout l, const float *got, const double *want)
{
    return (mismatch){.where = l,
                      .got = got,
                      .want = want,
                      .before = result_of_call_before(l),
                      .sizes = now.sizes,
                      .size_count = now.size_count};
}

void expect_close(layout l, const float *got, const double *want, const double *scale,
                  double tolerance)
{
    const size_t size = l.rows * l.cols;
    if (is_close(l, got, want, scale, tolerance)) {
        result_keep(l, got);
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

void expect_norm_close(layout l, const float *got, const double *want, const double *scale,
                       long terms, double tolerance)
{
    const size_t count = l.rows * l.cols;
    double difference = 0.0, norm = 0.0;
    for (size_t i = 0; i < count; i++) {
        difference += (got[i] - want[i]) * (got[i] - want[i]);
        norm += want[i] * want[i];
    }
    difference = sqrt(difference);
    norm = fmax(sqrt(norm), usual_norm(scale, count, terms));
    expect(difference <= tolerance * norm,
           "%s differs by %.3g of its norm; honest fp32 stays below %.0e (lower precision, or "
           "terms left out?)",
           l.name, difference / norm, tolerance);
}

void expect_equal_i32(layout l, const int *got, const int *want)
{
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < l.rows * l.cols; i++) {
        if (got[i] != want[i] && wrong++ == 0) first = i;
    }
    expect(wrong == 0, "%s[%zu][%zu] is %d%s, should be %d; %zu of %zu wrong", l.name,
           first / l.cols, first % l.cols, got[first],
           (unsigned)got[first] == POISON_I32 ? " (never written)" : "", want[first], wrong,
           l.rows * l.cols);
}

void expect_near(const char *what, double got, double want, double tolerance)
{
    const float rounded = (float)got;
    const double bound = tolerance * fmax(1.0, fabs(want));
    mismatch m = mismatch_of((layout){what, 1, 1}, &rounded, &want);
    m.bound = &bound, m.bad = &(bool){true}, m.count = 1;
    const bool near = fabs(got - want) <= bound;
    const char *mistake = near ? "" : likely_mistake(&m);
    result_keep(m.where, &rounded);
    expect(near, "%s is %.9g, should be %.9g (within %.1e)%s", what, got, want, tolerance, mistake);
}

static void expect_element(const float *c, const float *a, const float *b, long i, long j, long n,
                           long k)
{
    double want = 0.0, scale = 0.0;
    for (long p = 0; p < k; p++) {
        double term = (double)a[i * k + p] * b[p * n + j];
        want += term;
        scale += fabs(term);
    }
    double got = c[i * n + j];
    expect(fabs(got - want) <= FP32_SUM_TOLERANCE * scale,
           "c[%ld][%ld] is %.9g, should be %.9g (one of %d elements looked at)", i, j, got, want,
           SAMPLES);
}

/* c x = a (b x) for one random x: a wrong element anywhere in a row shows in that row. */
static void expect_projection(const float *c, const float *a, const float *b, long m, long n,
                              long k)
{
    float *x = random_f32((size_t)n);
    double *bx = f64_array((size_t)k), *absolute = f64_array((size_t)k);
    for (long p = 0; p < k; p++) {
        for (long j = 0; j < n; j++) {
            bx[p] += (double)b[p * n + j] * x[j];
            absolute[p] += fabs((double)b[p * n + j] * x[j]);
        }
    }
    for (long i = 0; i < m; i++) {
        double got = 0.0, want = 0.0, scale = 0.0;
        for (long j = 0; j < n; j++) got += (double)c[i * n + j] * x[j];
        for (long p = 0; p < k; p++) {
            want += a[i * k + p] * bx[p];
            scale += fabs(a[i * k + p]) * absolute[p];
        }
        expect(fabs(got - want) <= FP32_SUM_TOLERANCE * scale,
               "row %ld of c is wrong: its projection is %.9g, should be %.9g", i, got, want);
    }
}

void expect_matmul(const float *c, const float *a, const float *b, long m, long n, long k)
{
    if (m * n * k <= FULL_CHECK_TERMS) {
        double *want = f64_array((size_t)(m * n)), *scale = f64_array((size_t)(m * n));
        layout l = {"c", (size_t)m, (size_t)n};
        reference_matmul(want, scale, a, b, m, n, k);
        if (!is_close(l, c, want, scale, FP32_SUM_TOLERANCE)) suspect_product(c, a, b, m, n, k);
        expect_close(l, c, want, scale, FP32_SUM_TOLERANCE);
        expect_norm_close(l, c, want, scale, k, FP32_NORM_TOLERANCE);
        return;
    }
    for (int s = 0; s < SAMPLES; s++) {
        long i = (long)random_below(case_random(), (uint64_t)m);
        long j = (long)random_below(case_random(), (uint64_t)n);
        expect_element(c, a, b, i, j, n, k);
    }
    expect_projection(c, a, b, m, n, k);
}
