/*
 * 411_moe_router.cu: which experts shall work on which token, and the lists that the experts work
 * through.
 *
 * The idea of the router: logits = input * gate_weights^T is a product with few columns, as many as
 * there are experts. So a block keeps all logits of 64 tokens to itself. It multiplies by tiles,
 * with DOWN x ACROSS sums a thread (214). Both operands lie along the sum, so both tiles are plain
 * copies, and a thread reads four floats of a row at once. Then the block has what softmax and
 * top k need, and does them at once: eight lanes share a token.
 *
 * The k-th choice needs no marks on those before it. The experts have an order: the larger logit
 * first, of equal ones the lower number. Each round takes the first that comes after the last one.
 *
 * The idea of the lists: a stable counting sort. The tokens are cut into segments. First count, for
 * each segment and expert; then one block adds up and says where each expert's list begins; then
 * each segment is placed. In the first and the last step a thread is an expert, and walks along its
 * segment token by token. So the order is kept by itself, and nobody needs an atomic.
 *
 * The cost removed: the scores take no trip through memory between product, softmax and top k, and
 * the order needs no sort. The cost left: fp32 multiply-adds. 16,384 tokens of 1,024 by 64 experts
 * are 2.1 GFLOP, more time than the reading of the 64 MB of input; and a walking thread looks at
 * the choices of all other experts, too.
 */
#include "411_moe_router/moe_router.h"
#include "not_implemented.h"
#include <cuda_pipeline.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>

/* TODO: the sizes, and the copy of a tile, zero outside the matrix (about 35 lines). */

/* TODO: multiply: this thread's sums over the terms of one stage (about 20 lines). */

/* TODO: tile_of_logits: TILE x TILE logits, with the next stage on its way while this one is
   multiplied (about 30 lines). */

/* TODO: next_choice: of a token's experts the first that comes after `last`; LANES lanes look
   together (about 27 lines). */

/* TODO: route_token: softmax, the choices, the gates; the logits become probabilities (about 23
   lines). */

/* TODO: router_kernel: a block TILE tokens: their logits, tile by tile, to probs; then each
   token (about 20 lines). */

cudaError_t moe_router(int *expert_ids, float *gate_scores, float *probs, const float *input,
                       const float *gate_weights, int num_tokens, int num_experts, int top_k,
                       int hidden_dim, cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || top_k > num_experts) return cudaErrorInvalidValue;
    /* TODO: a block for TILE tokens; by 16 bytes where rows begin at multiples of them (about 9
       lines). */
    NOT_IMPLEMENTED(expert_ids, gate_scores, probs, input, gate_weights, num_tokens, num_experts,
                    top_k, hidden_dim, stream);
    return cudaGetLastError();
}

/* TODO: what the three kernels of the lists are given, and the tokens of a segment (about 19
   lines). */

/* TODO: count_kernel: a block a segment, a thread an expert: its entries, and the sum of its
   probabilities (about 14 lines). */

/* TODO: block_scan: the sum of x over all threads before this one, and in *total over all of
   the block (about 20 lines). */

/* TODO: plan_kernel, one block: how many entries each expert has and keeps, where its list
   begins, and the metrics (about 32 lines). */

/* TODO: place_kernel: each thread walks along its segment once more, and stores its entries
   behind those of the segments before; what is left of permutation becomes -1 (about 20 lines). */

cudaError_t moe_permute(int *permutation, int *offsets, moe_metrics *metrics, moe_segment *scratch,
                        const int *expert_ids, const float *probs, int num_tokens, int num_experts,
                        int top_k, int capacity, cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || top_k > num_experts || capacity < 0)
        return cudaErrorInvalidValue;
    /* TODO: segments of equal length; count, plan, place; no tokens still make a plan (about 12
       lines). */
    NOT_IMPLEMENTED(permutation, offsets, metrics, scratch, expert_ids, probs, num_tokens,
                    num_experts, top_k, capacity, stream);
    return cudaGetLastError();
}
