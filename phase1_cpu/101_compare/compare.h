/*
 * compare.h: the contract of exercise 101. The conventions are in cpu.h.
 */
#ifndef COURSE_COMPARE_H
#define COURSE_COMPARE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Does got equal ref, up to rounding? The first of these rules that applies decides for element i:
 *   ref[i] is NaN:                right if got[i] is NaN, too;
 *   got[i] equals ref[i]:         right (infinities too; 0 and -0 are equal);
 *   one of them is not finite:    wrong;
 *   else:                         right if their difference is at most the bound tol * scale[i].
 * Difference and bound are computed in double. A bound that is NaN allows no difference.
 * @param got, ref  [n]
 * @param scale     [n] what the error of each element is relative to, not negative; NULL:
 *                  max(1, |ref[i]|)
 * @param first_bad receives the index of the first wrong element, or n; may be NULL
 * @return 1 if all n elements are right, also for n = 0; else 0
 */
int approx_equal(const float *got, const float *ref, const float *scale, size_t n, double tol,
                 size_t *first_bad);

#ifdef __cplusplus
}
#endif

#endif
