#include "matmul_cases.h"

#include "correctness/case.h"
#include <math.h>
#include <string.h>

/* Call a matrix product, on the CPU or with a stream behind the sizes. */
static void call_matmul(const char *function, argument c, argument a, argument b, const long *shape)
{
    argument m = i32((int)shape[0]), n = i32((int)shape[1]), k = i32((int)shape[2]);
    if (case_place() == ON_HOST)
        call_void(function, ARGS(c, a, b, m, n, k));
    else
        call_cuda(function, ARGS(c, a, b, m, n, k, stream()));
}

/* Without outputs nothing is launched: their contracts say so. */
static void expect_no_launch(void)
{
    const device_counts *c = call_counts();
    expect(!c || c->launches == 0, "c is empty, but a kernel is launched");
}

static void multiply_and_check(const char *function, const float *a, const float *b,
                               const long *shape, unsigned shift)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const size_t c_size = (size_t)(m * n), a_size = (size_t)(m * k), b_size = (size_t)(k * n);
    float *c = f32_array(c_size);
    call_matmul(function, shifted(out_f32("c", c, c_size), shift),
                shifted(in_f32("a", a, a_size), shift), shifted(in_f32("b", b, b_size), 2 * shift),
                shape);
    if (c_size == 0) expect_no_launch();
    expect_matmul(c, a, b, m, n, k);
}

void matmul_random(const char *function, const long *shape)
{
    const float *a = random_f32((size_t)(shape[0] * shape[2]));
    const float *b = random_f32((size_t)(shape[2] * shape[1]));
    multiply_and_check(function, a, b, shape, 0);
}

void matmul_misaligned(const char *function, const long *shape)
{
    const float *a = random_f32((size_t)(shape[0] * shape[2]));
    const float *b = random_f32((size_t)(shape[2] * shape[1]));
    multiply_and_check(function, a, b, shape, 4);
}

void matmul_exact(const char *function, const long *shape)
{
    const size_t a_size = (size_t)(shape[0] * shape[2]), b_size = (size_t)(shape[2] * shape[1]);
    float *a = f32_array(a_size), *b = f32_array(b_size);
    for (size_t i = 0; i < a_size; i++) a[i] = (float)random_below(case_random(), 19) - 9;
    for (size_t i = 0; i < b_size; i++) b[i] = (float)random_below(case_random(), 19) - 9;
    multiply_and_check(function, a, b, shape, 0);
}

void expect_matmul_special(const float *c, long m, long n, long row, float in_a, long col,
                           float in_b)
{
    for (long i = 0; i < m; i++) {
        for (long j = 0; j < n; j++) {
            const float got = c[i * n + j];
            if (i == row && (isnan(in_a) || j != col))
                expect(isnan(in_a) ? isnan(got) : isinf(got),
                       "%s in row %ld of a is lost in "
                       "c[%ld][%ld]",
                       isnan(in_a) ? "a NaN" : "an infinity", row, i, j);
            else if (j == col)
                expect(isnan(in_b) ? isnan(got) : isinf(got), "%s in b is lost in c[%ld][%ld]",
                       isnan(in_b) ? "a NaN" : "an infinity", i, j);
            else
                expect(isfinite(got), "c[%ld][%ld] is %g, but its row and column are finite", i, j,
                       got);
        }
    }
}

/* Which of the two makes its row or column NaN, and which infinite. */
static void nan_and_infinity(const char *function, const long *shape, float in_a, float in_b)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    float *c = f32_array((size_t)(m * n));
    const long row = (long)random_below(case_random(), (uint64_t)m);
    const long col = (long)random_below(case_random(), (uint64_t)n);
    a[row * k + (long)random_below(case_random(), (uint64_t)k)] = in_a;
    b[(long)random_below(case_random(), (uint64_t)k) * n + col] = in_b;
    call_matmul(function, out_f32("c", c, (size_t)(m * n)), in_f32("a", a, (size_t)(m * k)),
                in_f32("b", b, (size_t)(k * n)), shape);
    expect_matmul_special(c, m, n, row, in_a, col, in_b);
}

void matmul_nan(const char *function, const long *shape)
{
    nan_and_infinity(function, shape, NAN, INFINITY);
    nan_and_infinity(function, shape, -INFINITY, NAN);
}

/* A baseline is ours: it is called on the same kind of inputs, and believed. */
void matmul_timed(const char *function, const long *shape)
{
    const size_t c_size = (size_t)(shape[0] * shape[1]), a_size = (size_t)(shape[0] * shape[2]);
    const size_t b_size = (size_t)(shape[2] * shape[1]);
    const float *a = random_f32(a_size), *b = random_f32(b_size);
    float *c = f32_array(c_size);
    call_matmul(function, out_f32("c", c, c_size), in_f32("a", a, a_size), in_f32("b", b, b_size),
                shape);
    if (strncmp(function, "baseline_", 9) == 0) return;
    expect_matmul(c, a, b, shape[0], shape[1], shape[2]);
}

void matmul_zero_times_infinity(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    float *c = f32_array((size_t)(m * n));
    const long row = (long)random_below(case_random(), (uint64_t)m);
    const long col = (long)random_below(case_random(), (uint64_t)n);
    a[row * k + k / 2] = 0.0f;
    b[k / 2 * n + col] = INFINITY;
    call_matmul(function, out_f32("c", c, (size_t)(m * n)), in_f32("a", a, (size_t)(m * k)),
                in_f32("b", b, (size_t)(k * n)), shape);
    expect(isnan(c[row * n + col]), "0 * infinity is NaN, but c[%ld][%ld] is %g", row, col,
           c[row * n + col]);
}

/* ---- by threads ------------------------------------------------------------------------------ */

static void call_threads(const char *function, float *c, const float *a, const float *b,
                         const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const unsigned shift = (unsigned)shape[4];
    call_void(function, ARGS(shifted(out_f32("c", c, (size_t)(m * n)), shift),
                             shifted(in_f32("a", a, (size_t)(m * k)), shift),
                             shifted(in_f32("b", b, (size_t)(k * n)), 2 * shift), i32((int)m),
                             i32((int)n), i32((int)k), i32((int)shape[3])));
}

void matmul_by_threads(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    float *c = f32_array((size_t)(m * n));
    call_threads(function, c, a, b, shape);
    if (strncmp(function, "baseline_", 9) == 0) return;
    expect_matmul(c, a, b, m, n, k);
}

void matmul_by_threads_special(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const size_t size = (size_t)(m * n);
    float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n)), *c = f32_array(size);
    double *want = f64_array(size), *scale = f64_array(size);
    sprinkle_special_f32(a, (size_t)(m * k), 2);
    sprinkle_special_f32(b, (size_t)(k * n), 2);
    reference_matmul(want, scale, a, b, m, n, k);
    call_threads(function, c, a, b, shape);
    expect_close((layout){"c", (size_t)m, (size_t)n}, c, want, scale, FP32_SUM_TOLERANCE);
}
