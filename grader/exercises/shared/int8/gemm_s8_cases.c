#include "gemm_s8_cases.h"

#include <math.h>
#include <stdlib.h>

static int8_t *draw_s8(size_t count, long values)
{
    int8_t *x = array_of(ELEMENT_I8, count);
    const int low = values == S8_LARGE ? 120 : -128, high = values == S8_LOWEST ? -128 : 127;
    for (size_t i = 0; i < count; i++)
        x[i] = (int8_t)(low + (int)random_below(case_random(), (uint64_t)(high - low + 1)));
    return x;
}

static void expect_sums(const int *c, const int8_t *a, const int8_t *b, long m, long n, long k)
{
    int *want = i32_array((size_t)(m * n));
    for (long i = 0; i < m * n; i++) {
        const int8_t *x = a + i / n * k, *y = b + i % n * k;
        for (long l = 0; l < k; l++) want[i] += x[l] * y[l];
        const double apart = fabs((double)c[i] - want[i]);
        expect(apart == 0 || abs(want[i]) <= 1 << 24 || apart > 1e-5 * abs(want[i]),
               "c[%ld][%ld] is %d, should be %d: the sums are not exact; a float has every whole "
               "number up to 2^24 alone",
               i / n, i % n, c[i], want[i]);
    }
    expect_equal_i32((layout){"c", (size_t)m, (size_t)n}, c, want);
}

/* c x = a (b^T x) for a random vector of whole numbers, exact in 64 bits. */
static void expect_projection(const int *c, const int8_t *a, const int8_t *b, long m, long n,
                              long k)
{
    const int *x = random_i32((size_t)n, -500, 501);
    double *bx = f64_array((size_t)k); /* whole numbers below 2^53 */
    for (long i = 0; i < n * k; i++) bx[i % k] += (double)b[i] * x[i / k];
    for (long i = 0; i < m; i++) {
        double got = 0.0, want = 0.0;
        for (long j = 0; j < n; j++) got += (double)c[i * n + j] * x[j];
        for (long l = 0; l < k; l++) want += a[i * k + l] * bx[l];
        expect(got == want, "row %ld of c times a vector of whole numbers is %.0f, should be %.0f",
               i, got, want);
    }
}

int *s8_multiply(const char *function, const int8_t *a, const int8_t *b, const long *shape)
{
    const size_t m = (size_t)shape[0], n = (size_t)shape[1], k = (size_t)shape[2];
    const unsigned shift = (unsigned)shape[4];
    int *c = i32_array(m * n);
    call_cuda(function,
              ARGS(out_i32("c", c, m * n), shifted(in_of(ELEMENT_I8, "a", a, m * k), shift),
                   shifted(in_of(ELEMENT_I8, "b", b, n * k), shift), i32((int)m), i32((int)n),
                   i32((int)k), stream()));
    return c;
}

void s8_product(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    const int8_t *a = draw_s8((size_t)(m * k), shape[3]), *b = draw_s8((size_t)(n * k), shape[3]);
    const int *c = s8_multiply(function, a, b, shape);
    if ((double)m * n * k <= 5e7)
        expect_sums(c, a, b, m, n, k);
    else
        expect_projection(c, a, b, m, n, k);
}
