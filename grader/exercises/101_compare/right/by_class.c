// RIGHT: from the end to the beginning, by the class of ref, in long double
#include "101_compare/compare.h"
#include <math.h>
#include <stdbool.h>

static bool near(long double got, long double ref, long double bound)
{
    switch (fpclassify(ref)) {
    case FP_NAN: return fpclassify(got) == FP_NAN;
    case FP_INFINITE: return got == ref;
    default: break;
    }
    if (!isfinite(got)) return false;
    const long double low = ref - bound, high = ref + bound;
    return got == ref || (low <= got && got <= high);
}

int approx_equal(const float *got, const float *ref, const float *scale, size_t n, double tol,
                 size_t *first_bad)
{
    size_t bad = n;
    for (size_t i = n; i-- > 0;) {
        const double magnitude = fabs((double)ref[i]);
        const double against = scale != NULL ? scale[i] : magnitude < 1.0 ? 1.0 : magnitude;
        if (!near(got[i], ref[i], against * tol)) bad = i;
    }
    if (first_bad != NULL) *first_bad = bad;
    return bad == n ? 1 : 0;
}
