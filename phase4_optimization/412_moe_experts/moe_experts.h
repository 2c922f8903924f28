/*
 * moe_experts.h: the contract of exercise 412. The conventions are in optimization.h.
 */
#ifndef COURSE_MOE_EXPERTS_H
#define COURSE_MOE_EXPERTS_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Runs the experts on the lists of moe_permute, in at most two launches. Expert e has the weights
 * up[ffn_dim x hidden_dim] and down[hidden_dim x ffn_dim]. For a token x it computes
 *
 *     hidden = gelu(x * up^T), rounded to bf16      y = hidden * down^T
 *
 * The output of a token is the sum of gate * y over its entries, or 0 if all of them were dropped.
 * Sums are fp32; gelu is that of gelu_forward (301). Sums over more than two entries may be in any
 * order.
 *
 * input, hidden and the weights of each expert begin at multiples of 16 bytes. Returns
 * cudaErrorInvalidValue, and does nothing, unless hidden_dim and ffn_dim are multiples of 8 and
 * num_experts and top_k at least 1. There may be no tokens, and either size may be 0.
 * @param output         [num_tokens x hidden_dim]
 * @param hidden         [num_tokens * top_k x ffn_dim] scratch
 * @param input          [num_tokens x hidden_dim]
 * @param expert_weights [2 x num_experts] pointers in device memory: up of each expert, then down
 *                       of each
 * @param permutation    [num_tokens x top_k], offsets [num_experts + 1]: from moe_permute
 * @param gate_scores    [num_tokens x top_k] from moe_router
 */
cudaError_t moe_experts_compute(float *output, __nv_bfloat16 *hidden, const __nv_bfloat16 *input,
                                const __nv_bfloat16 *const *expert_weights, const int *permutation,
                                const int *offsets, const float *gate_scores, int num_tokens,
                                int num_experts, int top_k, int hidden_dim, int ffn_dim,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
