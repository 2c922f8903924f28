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

/** What cuBLAS keeps from call to call. NULL is none. */
typedef struct cublas_ctx cublas_ctx;

/** @param ctx receives it, or NULL on an error. A product of it is fp32 throughout, not TF32. */
cudaError_t cublas_create(cublas_ctx **ctx);
/**
 * As matmul_naive, by one call of cuBLAS, whose handle is ctx's: it is made once.
 * @return cudaErrorInvalidValue, and does nothing, when ctx is NULL; cudaErrorUnknown when cuBLAS
 *         reports an error, as it does of a negative size. A ctx that was destroyed is the
 *         caller's mistake, as memory that was freed is
 */
cudaError_t matmul_cublas(cublas_ctx *ctx, float *c, const float *a, const float *b, int m, int n,
                          int k, cudaStream_t stream);
/** Frees all of it. NULL is allowed. */
cudaError_t cublas_destroy(cublas_ctx *ctx);

#ifdef __cplusplus
}
#endif

#endif
