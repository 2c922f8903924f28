/*
 * matmul_wgmma.h: the contract of exercise 4b. The conventions are in optimization.h.
 */
#ifndef COURSE_MATMUL_WGMMA_H
#define COURSE_MATMUL_WGMMA_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As matmul_tensorcore. It uses TMA and wgmma if the device has compute capability 9.0 and rows
 * begin at multiples of 16 bytes; otherwise it is right but slower. m up to 2^31 - 256.
 */
cudaError_t matmul_wgmma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                         int k, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
