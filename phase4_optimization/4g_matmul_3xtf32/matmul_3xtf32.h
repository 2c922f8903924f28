/*
 * matmul_3xtf32.h: the contract of exercise 4g. The conventions are in optimization.h.
 */
#ifndef COURSE_MATMUL_3XTF32_H
#define COURSE_MATMUL_3XTF32_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As matmul_vectorized and as accurate, on tensor cores. A NaN spreads as NaN, an infinity as
 * infinity or NaN; numbers from 3.4026e38 on may count as infinite. n up to 8,388,480.
 */
cudaError_t matmul_3xtf32(float *c, const float *a, const float *b, int m, int n, int k,
                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
