/*
 * flash_attention2_backward.h: the contract of exercise 4d. The conventions are in optimization.h.
 */
#ifndef COURSE_FLASH_ATTENTION2_BACKWARD_H
#define COURSE_FLASH_ATTENTION2_BACKWARD_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The gradients of attention_flash2, from its inputs and outputs. p and values computed from it may
 * be rounded to bf16 before they are multiplied; sums are fp32. Further memory is allocated on the
 * stream, in proportion to the queries, not to the scores. Inputs are finite; but if causal is 0, a
 * NaN in grad_out, q, k or v makes all gradients NaN that depend on it, all in its head, no others.
 * @param grad_q, grad_k, grad_v [batch x heads x seq x dim], overwritten
 * @param grad_out the gradient of out
 * @param out, lse from the forward call
 * @param dim      64 or 128: others are cudaErrorInvalidValue
 */
cudaError_t attention_flash2_backward(__nv_bfloat16 *grad_q, __nv_bfloat16 *grad_k,
                                      __nv_bfloat16 *grad_v, const __nv_bfloat16 *grad_out,
                                      const __nv_bfloat16 *out, const float *lse,
                                      const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                                      const __nv_bfloat16 *v, int batch, int heads, int seq,
                                      int dim, int causal, float scale, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
