/*
 * matmul_tensorcore.h: the contract of exercise 402. The conventions are in optimization.h.
 */
#ifndef COURSE_MATMUL_TENSORCORE_H
#define COURSE_MATMUL_TENSORCORE_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As matmul_vectorized, on tensor cores: a and b are bf16, products and sums fp32. Any size; arrays
 * are aligned to their elements only.
 */
cudaError_t matmul_tensorcore(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                              int n, int k, cudaStream_t stream);
/** The same with a and b in fp16. */
cudaError_t matmul_tensorcore_half(float *c, const __half *a, const __half *b, int m, int n, int k,
                                   cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
