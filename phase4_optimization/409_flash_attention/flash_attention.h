/*
 * flash_attention.h: the contract of exercise 409. The conventions are in optimization.h.
 */
#ifndef COURSE_FLASH_ATTENTION_H
#define COURSE_FLASH_ATTENTION_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As attention_naive (313), but without memory for the scores: it allocates nothing and uses only
 * its arrays. A score of -infinity has weight 0; a query with only such scores gets zeros.
 * @param out     [batch x heads x seq x dim]
 * @param lse     [batch x heads x seq] log of the sum of exp(s) over the keys that a query sees;
 *                -infinity if none has weight; NULL when not wanted
 * @param q, k, v as out
 * @param dim     at most 128: more is cudaErrorInvalidValue
 * @param batch   batch x heads x (seq / 32, rounded up) is below 2^31
 */
cudaError_t attention_flash(float *out, float *lse, const float *q, const float *k, const float *v,
                            int batch, int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
