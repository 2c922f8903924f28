/*
 * shared_memory.h: the contract of exercise 207. The conventions are in basics.h.
 */
#ifndef COURSE_SHARED_MEMORY_H
#define COURSE_SHARED_MEMORY_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reverses each run of 256 elements: out[256 b + i] = in[256 b + 255 - i]. The last run may be
 *  shorter and is reversed within its own length. out may be in. */
cudaError_t reverse_blocks(float *out, const float *in, size_t n, cudaStream_t stream);

/** out[i] = in[i - radius] + ... + in[i + radius]; elements outside of in count as 0.
 *  @param radius 0 to 64; else cudaErrorInvalidValue */
cudaError_t stencil_1d(float *out, const float *in, size_t n, int radius, cudaStream_t stream);

/** out[w] = the sum of in[32 w .. 32 w + 31], for (n + 31) / 32 runs; the last may be shorter. */
cudaError_t warp_sums(float *out, const float *in, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
