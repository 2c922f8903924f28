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
 * Is got what ref says, up to rounding? Element i is, if
 *   ref[i] is NaN:                       got[i] is NaN, too;
 *   else got[i] and ref[i] are equal:    always (infinities too; 0 and -0 are equal);
 *   else both are finite and their difference is at most tol * scale[i]. The difference and the
 *   bound are computed in double.
 * A bound that is NaN allows no difference.
 * @param got, ref  [n]
 * @param scale     [n] what the error of each element is held against, not negative; NULL:
 *                  max(1, |ref[i]|)
 * @param first_bad receives the least i that is wrong, n where none is; may be NULL
 * @return 1 if all n elements are right, also for n = 0; else 0
 */
int approx_equal(const float *got, const float *ref, const float *scale, size_t n, double tol,
                 size_t *first_bad);

#ifdef __cplusplus
}
#endif

#endif
