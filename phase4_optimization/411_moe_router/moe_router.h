/*
 * moe_router.h: the contract of exercise 411. The conventions are in optimization.h.
 *
 * A mixture of experts: each token is worked on by top_k of num_experts small networks, which the
 * router chooses, and their results are added with weights, the gates. An *entry* is one choice of
 * one token: entry token * top_k + j is its j-th. There are fewer than 2^31 of them.
 *
 * Both functions return cudaErrorInvalidValue, and do nothing, unless 1 <= top_k <= num_experts and
 * capacity >= 0. There may be no tokens, and hidden_dim may be 0. All arrays are of the device, and
 * no two overlap.
 */
#ifndef COURSE_MOE_ROUTER_H
#define COURSE_MOE_ROUTER_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * probs = softmax(input * gate_weights^T) by rows. expert_ids: the top_k experts with the largest
 * logits, the largest first; of equal logits, the lower expert first. gate_scores: their
 * probabilities, divided by the sum of these top_k. Of a token that has NaN or +infinity among its
 * logits, probs and gates are NaN, and its experts are any top_k different ones.
 * @param expert_ids   [num_tokens x top_k]
 * @param gate_scores  [num_tokens x top_k]
 * @param probs        [num_tokens x num_experts]
 * @param input        [num_tokens x hidden_dim]
 * @param gate_weights [num_experts x hidden_dim]
 */
cudaError_t moe_router(int *expert_ids, float *gate_scores, float *probs, const float *input,
                       const float *gate_weights, int num_tokens, int num_experts, int top_k,
                       int hidden_dim, cudaStream_t stream);

/** How the tokens spread over the experts. The struct lies in memory of the device, for it is a
 *  result; there the caller has stored where expert_utilization lies, in memory of the device too.
 */
typedef struct moe_metrics {
    float *expert_utilization; /**< [num_experts] share of all entries that chose the expert */
    float load_balance_loss;   /**< num_experts * sum over the experts of utilization * mean of
                                    their probabilities: 1 when both are the same for all */
    int dropped_tokens;        /**< entries whose expert was full */
} moe_metrics;

#define MOE_SEGMENTS 128 /* the tokens are counted in so many pieces */

/** What a piece of the tokens brings an expert. */
typedef struct moe_segment {
    int entries;
    float probs; /**< sum */
} moe_segment;

/**
 * The list of entries of each expert, in the order of the tokens: those of expert e are
 * permutation[offsets[e]] .. permutation[offsets[e + 1] - 1]. With a capacity each expert keeps its
 * first so many, and later tokens are dropped. The lists leave no gaps: the end of permutation is
 * as many -1 as entries were dropped. Without tokens, offsets and all metrics are 0.
 * @param permutation [num_tokens x top_k]
 * @param offsets     [num_experts + 1]
 * @param scratch     [MOE_SEGMENTS x num_experts]
 * @param expert_ids  [num_tokens x top_k] of a token all different, as of moe_router
 * @param probs       [num_tokens x num_experts] as of moe_router
 * @param capacity    entries that an expert takes at most; 0: all
 */
cudaError_t moe_permute(int *permutation, int *offsets, moe_metrics *metrics, moe_segment *scratch,
                        const int *expert_ids, const float *probs, int num_tokens, int num_experts,
                        int top_k, int capacity, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
