/*
 * flash_attention3_backward.h: the contract of exercise 4j. The conventions are in optimization.h.
 */
#ifndef COURSE_FLASH_ATTENTION3_BACKWARD_H
#define COURSE_FLASH_ATTENTION3_BACKWARD_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As attention_flash2_backward (4d), which it calls for what TMA and wgmma cannot take. It uses
 * these if the device has compute capability 9.0 and the arrays of bf16 begin at multiples of 16
 * bytes; otherwise it is right but slower.
 * @param grad_q, grad_k, grad_v [batch x heads x seq x dim], overwritten
 * @param grad_out the gradient of out
 * @param out, lse from the forward call
 * @param dim      64 or 128: others are cudaErrorInvalidValue
 */
cudaError_t attention_flash3_backward(__nv_bfloat16 *grad_q, __nv_bfloat16 *grad_k,
                                      __nv_bfloat16 *grad_v, const __nv_bfloat16 *grad_out,
                                      const __nv_bfloat16 *out, const float *lse,
                                      const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                                      const __nv_bfloat16 *v, int batch, int heads, int seq,
                                      int dim, int causal, float scale, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
