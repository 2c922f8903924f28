/*
 * reduce.h: the contract of exercise 208. The conventions are in basics.h.
 */
#ifndef COURSE_REDUCE_H
#define COURSE_REDUCE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** out[0] = sum of in[0 .. n-1]; 0 for n = 0. Scratch: cudaMallocAsync or a __device__ array. */
cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream);
/** out[0] = the largest of in[0 .. n-1]; -infinity for n = 0; NaN if any element is NaN. */
cudaError_t reduce_max(float *out, const float *in, size_t n, cudaStream_t stream);
/** out[r] = sum over c of in[r x c], for `rows` rows of `cols` elements. */
cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
