// RIGHT: counts in blocks that a compiler can vectorize, and looks for the index in the first bad
// one
#include "101_compare/compare.h"
#include <math.h>

#define BLOCK 1024

/* 1 where |got - ref| is larger than the bound, or where one cannot say so. */
static int is_wrong(double got, double ref, double size, double tol)
{
    const int both_nan = (got != got) & (ref != ref);
    const int within =
        (fabs(got - ref) <= tol * size) & (fabs(got) < INFINITY) & (fabs(ref) < INFINITY);
    return !(both_nan | (got == ref) | within);
}

static double size_of(const float *ref, const float *scale, size_t i)
{
    if (scale) return scale[i];
    return fabsf(ref[i]) > 1.0f ? fabsf(ref[i]) : 1.0f;
}

int approx_equal(const float *got, const float *ref, const float *scale, size_t n, double tol,
                 size_t *first_bad)
{
    size_t index;
    if (!first_bad) first_bad = &index;
    for (size_t begin = 0; begin < n; begin += BLOCK) {
        const size_t end = n - begin < BLOCK ? n : begin + BLOCK;
        int wrong = 0;
        for (size_t i = begin; i < end; i++)
            wrong += is_wrong(got[i], ref[i], size_of(ref, scale, i), tol);
        if (!wrong) continue;
        *first_bad = begin;
        while (!is_wrong(got[*first_bad], ref[*first_bad], size_of(ref, scale, *first_bad), tol))
            ++*first_bad;
        return 0;
    }
    *first_bad = n;
    return 1;
}
