/*
 * scan.h: the contract of exercise 210. The conventions are in basics.h.
 */
#ifndef COURSE_SCAN_H
#define COURSE_SCAN_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** out[i] = in[0] + ... + in[i - 1], and out[0] = 0. Sums wrap around, as unsigned ones do. out may
 *  be in. Scratch: cudaMallocAsync or a __device__ array. */
cudaError_t exclusive_scan(int *out, const int *in, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
