/*
 * matmul_warptile.h: the contract of exercise 2a. The conventions are in basics.h.
 */
#ifndef COURSE_MATMUL_WARPTILE_H
#define COURSE_MATMUL_WARPTILE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As matmul_registers, with a tile per warp and copies that overlap with the products. */
cudaError_t matmul_warptile(float *c, const float *a, const float *b, int m, int n, int k,
                            cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
