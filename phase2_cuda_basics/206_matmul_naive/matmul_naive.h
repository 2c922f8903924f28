/*
 * matmul_naive.h: the contract of exercise 206. The conventions are in basics.h.
 */
#ifndef COURSE_MATMUL_NAIVE_H
#define COURSE_MATMUL_NAIVE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** c[m x n] = a[m x k] * b[k x n], one thread per element of c. k = 0 gives zeros. m is at most
 *  524,280: a grid has up to 65,535 blocks along y. */
cudaError_t matmul_naive(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
