/*
 * 412_moe_experts.cu: all experts work at once: two launches, however many experts there are and
 * however the tokens spread over them.
 *
 * An expert is two products, hidden = gelu(x * up^T) and y = hidden * down^T, with as many rows as
 * its list has entries. How many that is, only the device knows. A launch per expert would have to
 * ask, and leaves the device idle behind every expert that is small.
 *
 * The idea: a *grouped* product. The tiles of all experts' products are numbered through, one
 * expert after the other. A grid of as many blocks as fit takes them in turn (407), and each block
 * finds the expert of its next tile by walking along offsets. An expert without entries has no
 * tiles, and one with nine tenths of the tokens has nine tenths of them.
 *
 * Nothing is sorted in memory. The first product gathers: row r of its tile is the token of entry
 * permutation[r], and a copy of 16 bytes may come from anywhere. The second one scatters: it adds
 * its rows, times their gates, to the tokens that they belong to, by atomics. output was cleared by
 * the blocks of the first launch. A sum of two terms is the same in either order.
 *
 * The product: rows of both operands lie along the sum. So both tiles are rows of 128 bytes in
 * shared memory, in a ring of three, and `ldmatrix` hands `mma` its fragments. Chunk c of row r
 * lies at place c ^ (r % 8), where eight rows of one column meet in no bank (4a).
 *
 * The cost removed: launches, idle blocks, and a gathered copy of the tokens. The cost left: the
 * last tile of each expert is not full, and what is multiplied there is thrown away: half a tile an
 * expert on average.
 */
#include "412_moe_experts/moe_experts.h"
#include "cuda_check.h"
#include "not_implemented.h"
#include <cuda_bf16.h>
#include <stdint.h>

/* TODO: the sizes, and the instructions (about 45 lines). */

/* TODO: group, the arguments of a kernel; and the scheduler: which expert has tile `number`?
   (about 40 lines) */

/* TODO: source: where a thread's chunks of a tile come from; the tokens' rows from anywhere
   (about 40 lines). */

/* TODO: multiply: a warp's sums over the terms of one stage (about 20 lines). */

/* TODO: store_row: what becomes of a row's sums: gelu and bf16, or gate and token (about 30
   lines). */

/* TODO: experts_kernel: tile after tile; the ring as in 4a, or simpler (about 45 lines). */

/* TODO: launch: as many blocks as the device holds at once, and no more than there can be tiles
   (about 20 lines). */

cudaError_t moe_experts_compute(float *output, __nv_bfloat16 *hidden, const __nv_bfloat16 *input,
                                const __nv_bfloat16 *const *expert_weights, const int *permutation,
                                const int *offsets, const float *gate_scores, int num_tokens,
                                int num_experts, int top_k, int hidden_dim, int ffn_dim,
                                cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || hidden_dim % 8 != 0 || ffn_dim % 8 != 0)
        return cudaErrorInvalidValue;
    /* TODO: both launches; the second one's weights are the second half of the pointers (about
       10 lines). */
    NOT_IMPLEMENTED(output, hidden, input, expert_weights, permutation, offsets, gate_scores,
                    num_tokens, num_experts, top_k, hidden_dim, ffn_dim, stream);
    return cudaSuccess;
}
