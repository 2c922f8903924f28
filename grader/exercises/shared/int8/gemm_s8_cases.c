#include "gemm_s8_cases.h"

#include <math.h>
#include <stdlib.h>

typedef struct narrowing {
    const int *from;
    int8_t *to;
} narrowing;

static void narrow_part(size_t begin, size_t end, void *context)
{
    const narrowing *n = context;
    for (size_t i = begin; i < end; i++) n->to[i] = (int8_t)n->from[i];
}

static int8_t *draw_s8(size_t count, long values)
{
    const int low = values == S8_LARGE ? 120 : -128, high = values == S8_LOWEST ? -128 : 127;
    narrowing n = {random_i32(count, low, high + 1), array_of(ELEMENT_I8, count)};
    parallel(count, 1, narrow_part, &n);
    return n.to;
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
               "number only up to 2^24",
               i / n, i % n, c[i], want[i]);
    }
    expect_equal_i32((layout){"c", (size_t)m, (size_t)n}, c, want);
}

/* c x = a (b^T x) for a random vector x of whole numbers, exact in 64 bits. */
typedef struct projection {
    const int *c, *x;
    const int8_t *a, *b;
    long n, k;
    double *bx, *got, *want; /* whole numbers below 2^53 */
} projection;

static void project_columns(size_t begin, size_t end, void *context)
{
    const projection *p = context;
    for (long j = 0; j < p->n; j++) {
        const int8_t *row = p->b + j * p->k;
        for (size_t l = begin; l < end; l++) p->bx[l] += (double)row[l] * p->x[j];
    }
}

static void project_rows(size_t begin, size_t end, void *context)
{
    const projection *p = context;
    for (size_t i = begin; i < end; i++) {
        const int8_t *row = p->a + (long)i * p->k;
        for (long j = 0; j < p->n; j++) p->got[i] += (double)p->c[(long)i * p->n + j] * p->x[j];
        for (long l = 0; l < p->k; l++) p->want[i] += row[l] * p->bx[l];
    }
}

static void expect_projection(const int *c, const int8_t *a, const int8_t *b, long m, long n,
                              long k)
{
    projection p = {.c = c, .x = random_i32((size_t)n, -500, 501), .a = a, .b = b, .n = n, .k = k};
    p.bx = f64_array((size_t)k), p.got = f64_array((size_t)m), p.want = f64_array((size_t)m);
    parallel((size_t)k, (size_t)n, project_columns, &p);
    parallel((size_t)m, (size_t)(n + k), project_rows, &p);
    for (long i = 0; i < m; i++) {
        expect(p.got[i] == p.want[i],
               "row %ld of c times a vector of whole numbers is %.0f, should be %.0f", i, p.got[i],
               p.want[i]);
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
