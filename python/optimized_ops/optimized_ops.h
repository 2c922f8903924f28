/*
 * optimized_ops.h: the operations of 512 for a program in C, which is linked with
 * liboptimized_kernels.so.
 *
 * Conventions as in layers.h: device pointers, row-major, the destination first, a stream last;
 * nothing waits. Memory that a call needs beyond its arrays, it takes from the stream and gives
 * back. Calls that the exercises refuse return the exercise's error.
 */
#ifndef COURSE_OPTIMIZED_OPS_H
#define COURSE_OPTIMIZED_OPS_H

#include "optimization.h"

#ifdef __cplusplus
extern "C" {
#endif

/** c[m x n] = a[m x k] * b[k x n] (401) */
cudaError_t optimized_matmul(float *c, const float *a, const float *b, int m, int n, int k,
                             cudaStream_t stream);
/** out, q, k, v [batch x heads x seq x dim]; dim at most 128 (409) */
cudaError_t optimized_attention(float *out, const float *q, const float *k, const float *v,
                                int batch, int heads, int seq, int dim, int causal, float scale,
                                cudaStream_t stream);
/** y, x [rows x cols]; gamma, beta [cols] (311) */
cudaError_t optimized_layernorm(float *y, const float *x, const float *gamma, const float *beta,
                                int rows, int cols, float eps, cudaStream_t stream);
/**
 * Each token's top_k experts, added with their gates (411, 412).
 * @param out, x [tokens x width]
 * @param router [experts x width]
 * @param up     [experts x inner x width], at a multiple of 16 bytes; width and inner are multiples
 *               of 8
 * @param down   [experts x width x inner], likewise
 */
cudaError_t optimized_moe(float *out, const float *x, const float *router, const __nv_bfloat16 *up,
                          const __nv_bfloat16 *down, int tokens, int experts, int top_k, int width,
                          int inner, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
