/*
 * matmul_vectorized.h: the contract of exercise 401. The conventions are in optimization.h.
 */
#ifndef COURSE_MATMUL_VECTORIZED_H
#define COURSE_MATMUL_VECTORIZED_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * c[m x n] = a[m x k] * b[k x n], row-major, with loads and stores of 16 bytes. Any size, also 0:
 * without outputs nothing is launched, and k = 0 gives zeros. Any addresses of floats: floats that
 * are not at a multiple of 16 bytes are loaded otherwise.
 */
cudaError_t matmul_vectorized(float *c, const float *a, const float *b, int m, int n, int k,
                              cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
