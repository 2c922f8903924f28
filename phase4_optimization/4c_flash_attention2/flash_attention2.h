/*
 * flash_attention2.h: the contract of exercise 4c. The conventions are in optimization.h.
 */
#ifndef COURSE_FLASH_ATTENTION2_H
#define COURSE_FLASH_ATTENTION2_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As attention_flash (409), in bf16 on tensor cores. Scores, sums and the softmax are fp32; weights
 * may be rounded to bf16 before they are multiplied with v. It allocates nothing. Arrays are
 * aligned to their elements only.
 * @param out     [batch x heads x seq x dim]
 * @param lse     [batch x heads x seq] log of the sum of exp(s) over the keys that a query sees;
 *                -infinity if none has weight, and then out is 0; NULL when not wanted
 * @param q, k, v as out
 * @param dim     64 or 128: others are cudaErrorInvalidValue
 * @param causal  not 0: a query sees the keys up to its own
 */
cudaError_t attention_flash2(__nv_bfloat16 *out, float *lse, const __nv_bfloat16 *q,
                             const __nv_bfloat16 *k, const __nv_bfloat16 *v, int batch, int heads,
                             int seq, int dim, int causal, float scale, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
