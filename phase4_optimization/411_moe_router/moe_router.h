/*
 * moe_router.h: the contract of exercise 411. The conventions are in optimization.h.
 *
 * A mixture of experts: for each token the router chooses top_k of num_experts small networks.
 * Their results are added with weights, the gates. An *entry* is one choice for one token: entry
 * token * top_k + j is its j-th. There are fewer than 2^31 entries.
 *
 * Both functions return cudaErrorInvalidValue, and do nothing, unless 1 <= top_k <= num_experts and
 * capacity >= 0. There may be no tokens, and hidden_dim may be 0. All arrays are in device memory,
 * and no two overlap.
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
 * logits, the largest first; with equal logits, the lower expert first. gate_scores: their
 * probabilities, divided by the sum of these top_k. If a token has NaN or +infinity among its
 * logits, its probs and gates are NaN, and its experts are any top_k different ones.
 * @param expert_ids   [num_tokens x top_k]
 * @param gate_scores  [num_tokens x top_k]
 * @param probs        [num_tokens x num_experts]
 * @param input        [num_tokens x hidden_dim]
 * @param gate_weights [num_experts x hidden_dim]
 */
cudaError_t moe_router(int *expert_ids, float *gate_scores, float *probs, const float *input,
                       const float *gate_weights, int num_tokens, int num_experts, int top_k,
                       int hidden_dim, cudaStream_t stream);

/** How the tokens spread over the experts. The struct is a result, so it is in device memory; the
 *  caller has stored expert_utilization in it, a pointer to device memory. */
typedef struct moe_metrics {
    float *expert_utilization; /**< [num_experts] share of all entries that chose the expert */
    float load_balance_loss;   /**< num_experts * sum over the experts of utilization * mean
                                    probability: 1 if both are the same for all experts */
    int dropped_tokens;        /**< entries whose expert was full */
} moe_metrics;

#define MOE_SEGMENTS 128 /* number of pieces in which tokens are counted */

/** The counts of one expert in one piece of the tokens. */
typedef struct moe_segment {
    int entries;
    float probs; /**< sum */
} moe_segment;

/**
 * The list of entries of each expert, in the order of the tokens: the list of expert e is
 * permutation[offsets[e]] .. permutation[offsets[e + 1] - 1]. If capacity is not 0, each expert
 * keeps its first `capacity` entries, and later ones are dropped. The lists leave no gaps:
 * permutation ends with one -1 per dropped entry. Without tokens, offsets and all metrics are 0.
 * @param permutation [num_tokens x top_k]
 * @param offsets     [num_experts + 1]
 * @param scratch     [MOE_SEGMENTS x num_experts]
 * @param expert_ids  [num_tokens x top_k] from moe_router: all different for a token
 * @param probs       [num_tokens x num_experts] from moe_router
 * @param capacity    entries that an expert takes at most; 0: all
 */
cudaError_t moe_permute(int *permutation, int *offsets, moe_metrics *metrics, moe_segment *scratch,
                        const int *expert_ids, const float *probs, int num_tokens, int num_experts,
                        int top_k, int capacity, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
