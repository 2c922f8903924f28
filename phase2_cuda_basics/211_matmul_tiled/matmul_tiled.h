/*
 * matmul_tiled.h: the contract of exercise 211. The conventions are in basics.h.
 */
#ifndef COURSE_MATMUL_TILED_H
#define COURSE_MATMUL_TILED_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As matmul_naive, with tiles of a and b staged in shared memory. */
cudaError_t matmul_tiled(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
