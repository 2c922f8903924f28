/*
 * matmul_transposed.h: the contract of exercise 212. The conventions are in basics.h.
 *
 * Nothing is transposed in memory: no function allocates memory.
 */
#ifndef COURSE_MATMUL_TRANSPOSED_H
#define COURSE_MATMUL_TRANSPOSED_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** c[m x n] = a[m x k] * b[n x k]^T. k = 0 gives zeros. */
cudaError_t matmul_nt(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream);
/** c[m x n] = a[k x m]^T * b[k x n]. k = 0 gives zeros. */
cudaError_t matmul_tn(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream);
/**
 * `batch` products c[m x n] = a[m x k] * b[k x n]; batch may be larger than 65,535. For a single
 * product the strides mean nothing.
 * @param stride_c           floats from one c to the next, at least m * n; memory between two of
 *                           them stays as it is
 * @param stride_a, stride_b floats from one a or b to the next, any number; 0: all products use
 *                           the same one
 */
cudaError_t matmul_batched(float *c, const float *a, const float *b, int m, int n, int k, int batch,
                           size_t stride_c, size_t stride_a, size_t stride_b, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
