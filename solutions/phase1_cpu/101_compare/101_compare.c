/*
 * 101_compare.c: are two arrays equal, up to rounding?
 *
 * The idea: a checker is a program, with bugs of its own, and a bug in it makes every other program
 * look right. So it asks for what must hold, and calls wrong whatever does not: a comparison is
 * !(difference <= bound). Written the other way round, difference > bound, it accepts NaN, with
 * which every comparison is false. What a bound cannot judge comes before it: a NaN that should be
 * there, and infinities, whose difference is NaN, or is as infinite as their bound.
 *
 * The cost it removes: an error that a maximum, a mean or one look at element 0 would have hidden.
 * The cost it leaves: somebody has to choose scale and tol. An absolute bound is nothing for a
 * result of 10,000 and everything for one of 0.0001; with scale, a sum is held against its terms.
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
    /* SOLUTION: go on as long as the element is right; where that ended is the answer to both
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
