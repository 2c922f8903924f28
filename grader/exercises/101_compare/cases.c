/* 101_compare: a checker is checked: with single pairs of numbers of which the contract says
 * whether they are right, hidden among many right ones, and with random arrays around the bound. */
#include "correctness/case.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TINY 0x1p-149f /* the least denormal */

/* What a call says of its arrays. */
typedef struct answer {
    int right;
    size_t first_bad;
} answer;

static answer ask(const float *got, const float *ref, const float *scale, size_t n, double tol)
{
    answer a;
    a.right = call_returning_i32("approx_equal",
                                 ARGS(in_f32("got", got, n), in_f32("ref", ref, n),
                                      scale ? in_f32("scale", scale, n) : null_pointer(), u64(n),
                                      f64(tol), out_of(ELEMENT_U64, "first_bad", &a.first_bad, 1)));
    return a;
}

/* What a student reads of element i. */
static const char *element_text(const float *got, const float *ref, const float *scale, size_t i,
                                double tol)
{
    static char text[160], size[48];
    snprintf(size, sizeof size, scale ? "%.9g" : "NULL", scale ? scale[i] : 0.0);
    snprintf(text, sizeof text, "got[%zu] = %.9g, ref[%zu] = %.9g, scale %s, tol %.9g", i, got[i],
             i, ref[i], size, tol);
    return text;
}

/* @param bad the first element that is wrong, n where none is */
static void expect_answer(const float *got, const float *ref, const float *scale, size_t n,
                          double tol, size_t bad)
{
    const answer a = ask(got, ref, scale, n, tol);
    const char *what = bad < n ? element_text(got, ref, scale, bad, tol) : "";
    expect(a.right == 1 || a.right == 0, "returned %d, should be 0 or 1", a.right);
    if (bad < n) {
        expect(!a.right, "accepts a wrong element among %zu: %s", n, what);
        expect(a.first_bad == bad, "first_bad is %zu, should be %zu: %s", a.first_bad, bad, what);
    } else {
        const size_t i = a.first_bad;
        expect(a.right, "rejects right arrays of %zu, and first_bad is %zu: %s", n, i,
               i < n ? element_text(got, ref, scale, i, tol) : "no element at all");
        expect(i == n, "all %zu are right, but first_bad is %zu", n, i);
    }
}

/* ---- single pairs ---------------------------------------------------------------------------- */

typedef struct pair {
    float got, ref, scale; /* scale 0: NULL is given */
    double tol;
    bool right;
} pair;

static const pair nans[] = {
    {NAN, 1.0f, 0.0f, 1e-5, false},     {1.0f, NAN, 0.0f, 1e-5, false},
    {NAN, 1.0f, 2.0f, 1e-5, false},     {NAN, INFINITY, 0.0f, 1e-5, false},
    {INFINITY, NAN, 0.0f, 1e-5, false}, {NAN, NAN, 0.0f, 1e-5, true},
    {NAN, NAN, 2.0f, 0.0, true},        {1.0f, 2.0f, NAN, 1e-5, false},
    {1.0f, 2.0f, 1.0f, NAN, false},     {3.0f, 3.0f, NAN, NAN, true},
};

static const pair infinities[] = {
    {INFINITY, INFINITY, 0.0f, 1e-5, true},   {-INFINITY, -INFINITY, 3.0f, 1e-5, true},
    {INFINITY, -INFINITY, 0.0f, 1e-5, false}, {-INFINITY, INFINITY, 3.0f, 1e-5, false},
    {INFINITY, FLT_MAX, 0.0f, 1e-5, false},   {5.0f, INFINITY, 0.0f, 1e-5, false},
    {5.0f, -INFINITY, 0.0f, 1e-5, false},     {5.0f, INFINITY, 5.0f, 1e-5, false},
    {INFINITY, 5.0f, INFINITY, 1e-5, false},  {4.0f, 5.0f, INFINITY, 1e-5, true},
    {4.0f, 5.0f, 1.0f, INFINITY, true},       {INFINITY, 5.0f, 1.0f, INFINITY, false},
};

static const pair zeros[] = {
    {0.0f, -0.0f, 0.0f, 0.0, true},     {-0.0f, 0.0f, 1.0f, 0.0, true},
    {1e-6f, 0.0f, 0.0f, 1e-5, true},    {1e-4f, 0.0f, 0.0f, 1e-5, false},
    {0.0f, 1e-4f, 0.0f, 1e-5, false},   {5.0f, 5.0f, INFINITY, 0.0, true},
    {4.0f, 5.0f, INFINITY, 0.0, false},
};

/* Bounds that a float rounds to 0, and a difference that it cannot hold. */
static const pair extremes[] = {
    {TINY, 0.0f, TINY, 1.0, true},           {TINY, 0.0f, TINY, 0.5, false},
    {3 * TINY, 2 * TINY, TINY, 0.75, false}, {3 * TINY, 2 * TINY, 2 * TINY, 0.75, true},
    {TINY, 0.0f, 0.0f, 0.0, false},          {TINY, -TINY, 0.0f, 1e-5, true},
    {FLT_MAX, -FLT_MAX, 0.0f, 2.0, true},    {FLT_MAX, -FLT_MAX, 0.0f, 1.5, false},
};

static const pair bounds[] = {
    {1.0f, 1.5f, 1.0f, 0.5, true},
    {1.0f, 1.5f, 1.0f, 0.4999999, false},
    {1.5f, 1.0f, 1.0f, 0.5, true},
    {1.5f, 1.0f, 1.0f, 0.4999999, false},
    {1e6f, 1e6f + 5, 0.0f, 1e-5, true},
    {1e6f, 1e6f + 15, 0.0f, 1e-5, false},
    {-1e6f, -1e6f - 5, 0.0f, 1e-5, true},
    {-1e6f, -1e6f - 15, 0.0f, 1e-5, false},
    {1e-3f, -1e-3f, 0.0f, 1e-2, true},
    {1e-3f, -1e-3f, 1e-3f, 1e-2, false},
    {1.0f, 3.0f, 1000.0f, 1e-2, true},
    {1.0f, 3.0f, 100.0f, 1e-2, false},
    {1.0f, 1.0f + FLT_EPSILON, 0.0f, 0.0, false},
    {-1.0f, 1.0f, 0.0f, 1e-5, false},
};

#define PAIRS(table)                                                                               \
    {                                                                                              \
        table, sizeof(table) / sizeof *(table)                                                     \
    }

static const struct {
    const pair *pairs;
    size_t count;
} tables[] = {PAIRS(nans), PAIRS(infinities), PAIRS(zeros), PAIRS(extremes), PAIRS(bounds)};
enum table { NANS, INFINITIES, ZEROS, EXTREMES, BOUNDS };

/* One pair at a random place among elements that are equal. */
static void expect_pair(const pair *p)
{
    const size_t n = 1 + random_below(case_random(), 40), at = random_below(case_random(), n);
    float *got = random_f32(n), *ref = f32_array(n), *scale = random_f32_between(n, 0.5f, 2.0f);
    memcpy(ref, got, n * sizeof *ref);
    got[at] = p->got, ref[at] = p->ref, scale[at] = p->scale;
    expect_answer(got, ref, p->scale == 0.0f ? NULL : scale, n, p->tol, p->right ? n : at);
}

/* shape: table */
static void run_pairs(const long *shape)
{
    for (size_t i = 0; i < tables[shape[0]].count; i++) expect_pair(&tables[shape[0]].pairs[i]);
}

/* ---- whole arrays ---------------------------------------------------------------------------- */

/* got differs from ref by share * tol * scale, to both sides. */
static float *moved_from(const float *ref, const float *scale, size_t n, double tol, double share)
{
    float *got = f32_array(n);
    for (size_t i = 0; i < n; i++) {
        const double sign = random_below(case_random(), 2) ? 1.0 : -1.0;
        got[i] = (float)(ref[i] + sign * share * tol * (scale ? scale[i] : fmax(1, fabs(ref[i]))));
    }
    return got;
}

/* shape: n, are there scales, how many are wrong, 1: the last one is, 0: any */
static void run_arrays(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const double tol = 1e-3;
    const float *ref = random_f32_between(n, -100.0f, 100.0f);
    const float *scale = shape[1] ? random_f32_between(n, 0.1f, 200.0f) : NULL;
    float *got = moved_from(ref, scale, n, tol, 0.9), *far = moved_from(ref, scale, n, tol, 1.1);
    size_t bad = n;
    for (long i = 0; i < shape[2]; i++) {
        const size_t at = shape[3] ? n - 1 : random_below(case_random(), n);
        got[at] = far[at];
        if (at < bad) bad = at;
    }
    expect_answer(got, ref, scale, n, tol, bad);
}

/* The first, the last, and none of three. */
static void run_places(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *ref = random_f32(n);
    for (size_t bad = 0; bad <= n; bad++) {
        float *got = moved_from(ref, NULL, n, 1e-3, 0.9);
        for (size_t i = bad; i < n; i++) got[i] = ref[i] + 1.0f;
        expect_answer(got, ref, NULL, n, 1e-3, bad);
    }
}

static void run_without_index(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *ref = random_f32(n);
    for (int right = 0; right < 2; right++) {
        const float *got = moved_from(ref, NULL, n, 1e-3, right ? 0.9 : 1.1);
        const int said = call_returning_i32(
            "approx_equal", ARGS(in_f32("got", got, n), in_f32("ref", ref, n), null_pointer(),
                                 u64(n), f64(1e-3), null_pointer()));
        expect(said == right, "without first_bad: returned %d, should be %d", said, right);
    }
}

static const grading_case cases[] = {
    {.name = "nothing", .run = run_arrays, .shape = {0}},
    {.name = "one", .run = run_arrays, .shape = {1}},
    {.name = "one_wrong", .run = run_arrays, .shape = {1, 0, 1}},
    {.name = "bounds", .run = run_pairs, .shape = {BOUNDS}},
    {.name = "nan", .run = run_pairs, .shape = {NANS}},
    {.name = "infinities", .run = run_pairs, .shape = {INFINITIES}},
    {.name = "zeros", .run = run_pairs, .shape = {ZEROS}},
    {.name = "extremes", .run = run_pairs, .shape = {EXTREMES}},
    {.name = "first_of_3", .run = run_places, .shape = {3}},
    {.name = "right_1009", .run = run_arrays, .shape = {1009}},
    {.name = "right_1009_scale", .run = run_arrays, .shape = {1009, 1}},
    {.name = "several_wrong", .run = run_arrays, .shape = {1009, 0, 7}},
    {.name = "several_wrong_scale", .run = run_arrays, .shape = {1009, 1, 7}},
    {.name = "any_size", .run = run_arrays, .shape = {1, 0, 3}, .most = {3000, 1}},
    {.name = "last_wrong", .run = run_arrays, .shape = {1009, 0, 1, 1}},
    {.name = "no_index", .run = run_without_index, .shape = {100}},
    LONG_ROW("right_70001", run_arrays, 70001, 1),
    LONG_ROW("one_of_a_million", run_arrays, 1000003, 0, 1),
    {0},
};

EXERCISE(101) = {
    .id = 101,
    .core = true,
    .name = "compare",
    .file = "phase1_cpu/101_compare/101_compare.c",
    .functions = {"approx_equal"},
    .points = 10,
    .cases = cases,
};
