#include "matmul_half_cases.h"

#include <math.h>
#include <string.h>

typedef struct rounding {
    element_type element;
    float *x;
    void *y;
} rounding;

static void round_part(size_t begin, size_t end, void *context)
{
    const rounding *r = context;
    for (size_t i = begin; i < end; i++) {
        element_store(r->element, r->y, i, r->x[i]);
        r->x[i] = (float)element_value(r->element, r->y, i);
    }
}

/* x as elements of the type; x itself becomes what they are. */
static void *rounded(element_type e, float *x, size_t count)
{
    rounding r = {e, x, array_of(e, count)};
    parallel(count, 1, round_part, &r);
    return r.y;
}

/* @return c [m x n]; a [m x k] and b [k x n] become what the function was given, which begins so
 * many bytes beyond an aligned address, b three times as many, and c four times */
static float *call_product(const char *function, element_type e, float *a, float *b,
                           const long *shape, unsigned shift)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const size_t c_size = (size_t)(m * n), a_size = (size_t)(m * k), b_size = (size_t)(k * n);
    float *c = f32_array(c_size);
    void *of_a = rounded(e, a, a_size), *of_b = rounded(e, b, b_size);
    argument in_a =
        shift ? shifted(in_bytes("a", of_a, 2 * a_size), shift) : in_of(e, "a", of_a, a_size);
    argument in_b =
        shift ? shifted(in_bytes("b", of_b, 2 * b_size), 3 * shift) : in_of(e, "b", of_b, b_size);
    call_cuda(function, ARGS(shifted(out_f32("c", c, c_size), 4 * shift), in_a, in_b, i32((int)m),
                             i32((int)n), i32((int)k), stream()));
    return c;
}

/* Uniform in (-a_high, a_high) and (-b_high, b_high). */
static void multiply_between(const char *function, element_type e, const long *shape, float a_high,
                             float b_high, unsigned shift)
{
    const size_t a_size = (size_t)(shape[0] * shape[2]), b_size = (size_t)(shape[2] * shape[1]);
    float *a = random_f32_between(a_size, -a_high, a_high);
    float *b = random_f32_between(b_size, -b_high, b_high);
    const float *c = call_product(function, e, a, b, shape, shift);
    expect_matmul(c, a, b, shape[0], shape[1], shape[2]);
}

void half_random(const char *function, element_type e, const long *shape)
{
    multiply_between(function, e, shape, 1.0f, 1.0f, 0);
}

void half_range(const char *function, element_type e, const long *shape)
{
    multiply_between(function, e, shape, 1e12f, 1e-12f, 0);
}

void half_misaligned(const char *function, element_type e, const long *shape)
{
    multiply_between(function, e, shape, 1.0f, 1.0f, 2);
}

/* Whole numbers from low to high, so that sums in fp32 are exact in any order. */
static void multiply_whole(const char *function, element_type e, const long *shape, int low,
                           int high)
{
    const size_t a_size = (size_t)(shape[0] * shape[2]), b_size = (size_t)(shape[2] * shape[1]);
    const int *of_a = random_i32(a_size, low, high + 1), *of_b = random_i32(b_size, low, high + 1);
    float *a = f32_array(a_size), *b = f32_array(b_size);
    for (size_t i = 0; i < a_size; i++) a[i] = (float)of_a[i];
    for (size_t i = 0; i < b_size; i++) b[i] = (float)of_b[i];
    const float *c = call_product(function, e, a, b, shape, 0);
    expect_matmul(c, a, b, shape[0], shape[1], shape[2]);
}

void half_exact(const char *function, element_type e, const long *shape)
{
    multiply_whole(function, e, shape, -9, 9);
}

void half_long(const char *function, element_type e, const long *shape)
{
    multiply_whole(function, e, shape, 1, 3);
}

void half_large(const char *function, element_type e, const long *shape)
{
    multiply_whole(function, e, shape, 200, 255);
}

/* c of a product with in_a somewhere in this row of a, and in_b in this column of b; both are among
 * the first `terms` of the sums. */
static float *special(const char *function, element_type e, const long *shape, long row, long col,
                      float in_a, float in_b, long terms)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    const long at = (long)random_below(case_random(), (uint64_t)(terms < k ? terms : k));
    a[row * k + at] = in_a;
    b[at * n + col] = in_b;
    return call_product(function, e, a, b, shape, 0);
}

/* An infinity among the first terms: a tile that ends beyond the last term may still hold it. */
#define FIRST_TERMS 32

void half_nan(const char *function, element_type e, const long *shape)
{
    const long row = (long)random_below(case_random(), (uint64_t)shape[0]);
    const long col = (long)random_below(case_random(), (uint64_t)shape[1]);
    const float *c = special(function, e, shape, row, col, NAN, INFINITY, FIRST_TERMS);
    expect_matmul_special(c, shape[0], shape[1], row, NAN, col, INFINITY);
    c = special(function, e, shape, row, col, -INFINITY, NAN, shape[2]);
    expect_matmul_special(c, shape[0], shape[1], row, -INFINITY, col, NAN);
}

void half_zero_times_infinity(const char *function, element_type e, const long *shape)
{
    const long row = (long)random_below(case_random(), (uint64_t)shape[0]);
    const long col = (long)random_below(case_random(), (uint64_t)shape[1]);
    const float got =
        special(function, e, shape, row, col, 0.0f, INFINITY, shape[2])[row * shape[1] + col];
    expect(isnan(got), "0 * infinity is NaN, but c[%ld][%ld] is %g", row, col, got);
}

static void cut_part(size_t begin, size_t end, void *context)
{
    const rounding *r = context;
    for (size_t i = begin; i < end; i++) {
        uint32_t bits;
        memcpy(&bits, &r->x[i], sizeof bits);
        ((uint16_t *)r->y)[i] = (uint16_t)(bits >> 16);
        bits &= 0xffff0000u;
        memcpy(&r->x[i], &bits, sizeof bits);
    }
}

void *upper_halves(float *x, size_t count)
{
    rounding r = {ELEMENT_BF16, x, array_of(ELEMENT_BF16, count)};
    parallel(count, 1, cut_part, &r);
    return r.y;
}

void half_timed(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const size_t c_size = (size_t)(m * n), a_size = (size_t)(m * k), b_size = (size_t)(k * n);
    float *a = random_f32(a_size), *b = random_f32(b_size), *c = f32_array(c_size);
    call_cuda(function, ARGS(out_f32("c", c, c_size),
                             in_of(ELEMENT_BF16, "a", upper_halves(a, a_size), a_size),
                             in_of(ELEMENT_BF16, "b", upper_halves(b, b_size), b_size), i32((int)m),
                             i32((int)n), i32((int)k), stream()));
    if (strncmp(function, "baseline_", 9) == 0) return;
    expect_matmul(c, a, b, m, n, k);
}
