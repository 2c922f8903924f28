/*
 * 101_compare.c: are two arrays equal, up to rounding?
 *
 * The idea: a checker is a program, with bugs of its own, and a bug in it makes every other program
 * look right. So it states the condition that must hold and rejects everything else: the comparison
 * is !(difference <= bound). The reverse, difference > bound, accepts NaN, because every comparison
 * with NaN is false. Two cases come before the bound: a NaN that should be there, and infinities,
 * whose difference is NaN or as infinite as their bound.
 *
 * The cost it removes: an error that a maximum, a mean or one look at element 0 would have hidden.
 * The cost it leaves: the caller has to choose scale and tol. An absolute bound is far too tight
 * for a result of 10,000 and far too loose for one of 0.0001; scale compares the error of a sum
 * with its terms.
 */
#include "101_compare/compare.h"
#include "not_implemented.h"
#include <math.h>

/* SOLUTION: is_right: one element: NaN, equality, infinities, and only then the bound (about 6
   lines). */
static int is_right(float got, float ref, double bound)
{
    if (isnan(ref)) return isnan(got);
    if (got == ref) return 1; /* the only way that an infinity can be right */
    if (isinf(got) || isinf(ref)) return 0;
    return fabs((double)got - ref) <= bound; /* false for a NaN on either side */
}
/* END SOLUTION */

int approx_equal(const float *got, const float *ref, const float *scale, size_t n, double tol,
                 size_t *first_bad)
{
    /* SOLUTION: go on as long as the element is right; the index where the loop ends answers both
       questions (about 7 lines). */
    size_t i = 0;
    for (; i < n; i++) {
        double size = scale ? scale[i] : fmax(1.0, fabs(ref[i]));
        if (!is_right(got[i], ref[i], tol * size)) break;
    }
    if (first_bad) *first_bad = i;
    return i == n;
    /* END SOLUTION */
}
