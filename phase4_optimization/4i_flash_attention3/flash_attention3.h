/*
 * flash_attention3.h: the contract of exercise 4i. The conventions are in optimization.h.
 */
#ifndef COURSE_FLASH_ATTENTION3_H
#define COURSE_FLASH_ATTENTION3_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As attention_flash2 (4c), which it calls for what TMA and wgmma cannot take. It uses these if the
 * device has compute capability 9.0, the arrays of bf16 begin at multiples of 16 bytes and the scale
 * is positive; otherwise it is right but slower.
 * @param out     [batch x heads x seq x dim]
 * @param lse     [batch x heads x seq] log of the sum of exp(s) over the keys that a query sees;
 *                -infinity if none has weight, and then out is 0; NULL when not wanted
 * @param q, k, v as out
 * @param dim     64 or 128: others are cudaErrorInvalidValue
 * @param causal  not 0: a query sees the keys up to its own
 */
cudaError_t attention_flash3(__nv_bfloat16 *out, float *lse, const __nv_bfloat16 *q,
                             const __nv_bfloat16 *k, const __nv_bfloat16 *v, int batch, int heads,
                             int seq, int dim, int causal, float scale, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
