/*
 * paged_attention.h: the contract of exercise 410. The conventions are in optimization.h.
 *
 * A step of decoding: each sequence has one new token, which attends to the cached keys and values
 * of its context. q and out are [sequences x q_heads x dim]; their head h uses head
 * h / (q_heads / kv_heads) of the cache. Over the tokens t of a context:
 *
 *     out = sum of p[t] v[t]        p = softmax of scale * (q . k[t])
 *
 * All arrays are bf16; products, weights and sums are fp32. A context of 0 gives zeros. Memory
 * beyond a context is not read and has no effect: it may hold anything. No two arrays overlap, and
 * neither call waits.
 *
 * context_lengths [sequences], each from 0 to the room that its sequence has
 * q_heads         a multiple of kv_heads
 * dim             a multiple of 8 up to 128
 * Other q_heads or dim, negative sizes and a page below 1 are cudaErrorInvalidValue. Without
 * sequences, heads or dimensions nothing is launched. The cache has fewer than 2^31 tokens.
 */
#ifndef COURSE_PAGED_ATTENTION_H
#define COURSE_PAGED_ATTENTION_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** k, v [sequences x max_context x kv_heads x dim]: each sequence has its own room. */
cudaError_t multi_query_attention(__nv_bfloat16 *out, const __nv_bfloat16 *q,
                                  const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                                  const int *context_lengths, int sequences, int q_heads,
                                  int kv_heads, int max_context, int dim, float scale,
                                  cudaStream_t stream);
/**
 * k_pool, v_pool [pages x page x kv_heads x dim]: token t of sequence s is token t % page of page
 * block_table[s][t / page]. Sequences may share pages. Table entries beyond a context may hold
 * anything.
 * @param block_table [sequences x max_pages]
 * @param page        tokens per page, at least 1
 */
cudaError_t attention_paged(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k_pool,
                            const __nv_bfloat16 *v_pool, const int *block_table,
                            const int *context_lengths, int sequences, int q_heads, int kv_heads,
                            int page, int max_pages, int dim, float scale, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
