/*
 * matmul_cublas.h: the contract of exercise 213. The conventions are in basics.h.
 */
#ifndef COURSE_MATMUL_CUBLAS_H
#define COURSE_MATMUL_CUBLAS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What cuBLAS keeps between calls. NULL: no context. */
typedef struct cublas_ctx cublas_ctx;

/** @param ctx receives it, or NULL on an error. Its products are fp32 throughout, not TF32. */
cudaError_t cublas_create(cublas_ctx **ctx);
/**
 * As matmul_naive, by one call of cuBLAS, with the handle in ctx, which is created only once.
 * @return cudaErrorInvalidValue, and does nothing, when ctx is NULL; cudaErrorUnknown when cuBLAS
 *         reports an error, as it does for a negative size. To pass a destroyed ctx is the caller's
 *         mistake, as it is to use freed memory
 */
cudaError_t matmul_cublas(cublas_ctx *ctx, float *c, const float *a, const float *b, int m, int n,
                          int k, cudaStream_t stream);
/** Frees the context. NULL is allowed. */
cudaError_t cublas_destroy(cublas_ctx *ctx);

#ifdef __cplusplus
}
#endif

#endif
