/*
 * find_the_bugs.h: the contract of exercise 215. The conventions are in basics.h.
 *
 * A group is 256 values; the last one may have fewer. Sums and products wrap around. out and in do
 * not overlap.
 */
#ifndef COURSE_FIND_THE_BUGS_H
#define COURSE_FIND_THE_BUGS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Within each group, every value moves one place towards the front, and the first to the end. */
cudaError_t rotate_groups(int *out, const int *in, size_t n, cudaStream_t stream);
/** x[i] *= factor */
cudaError_t scale_all(int *x, size_t n, int factor, cudaStream_t stream);
/** counts[d] = how many of digits[n] are d. @param counts [10] @param digits [n], each 0 .. 9 */
cudaError_t count_digits(int *counts, const int *digits, size_t n, cudaStream_t stream);
/** out[g] = the sum of group g of in[n]. */
cudaError_t group_sums(int *out, const int *in, size_t n, cudaStream_t stream);
/** out[w] = the largest of in[32w .. 32w + 31]; the last 32 may be fewer. */
cudaError_t warp_maxima(int *out, const int *in, size_t n, cudaStream_t stream);
/** out[i] = in[(i * step) modulo n]; the product does not wrap around. @param step > 0 */
cudaError_t gather_steps(int *out, const int *in, int n, int step, cudaStream_t stream);
/** y[i] = h_ab[0] * x[i] + h_ab[1]. @param h_ab [2], host, read before the function returns */
cudaError_t evaluate_line(int *y, const int *x, size_t n, const int *h_ab, cudaStream_t stream);
/** count[0] = how many of x[n] are larger than limit. */
cudaError_t count_above(int *count, const int *x, size_t n, int limit, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
