/*
 * matmul_mma.h: the contract of exercise 4a. The conventions are in optimization.h.
 */
#ifndef COURSE_MATMUL_MMA_H
#define COURSE_MATMUL_MMA_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As matmul_tensorcore, by mma.sync. n up to 8,388,480. */
cudaError_t matmul_mma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                       int k, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
