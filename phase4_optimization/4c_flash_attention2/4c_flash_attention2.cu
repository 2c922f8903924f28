/*
 * 4c_flash_attention2.cu: attention in one pass, in bf16, on tensor cores.
 *
 * A block has 128 queries of one head and walks along the keys, 64 at a time; it never holds more
 * of the scores than 128 x 64. A warp has 32 of the queries and whole rows of their scores, so that
 * what follows concerns no other warp:
 *
 *     scores  = queries keys^T        by `mma`, from shared memory
 *     weights = 2^(scores - high)     in the registers where `mma` left the scores
 *     out     = out + weights values  by `mma`, from there
 *
 * The third line is the point. Two products side by side, as `mma` leaves them, are one operand as
 * `mma` takes it, once they are rounded to bf16. Neither scores nor weights see any memory.
 *
 * 1. Base 2. The multiprocessor has 2^x and not e^x; log2(e) joins the factor of the scores.
 * 2. A lazy maximum. Any `high` is right as long as no weight overflows, for the sum is relative to
 *    it as well. So it moves, and out is scaled, only where a score exceeds it by 8, a weight of
 *    256. Each new maximum would cost a lane 128 multiplications, and one of 32 rows often has one.
 * 3. Nothing in vain. A causal block ends at its last query, each warp at its own; only tiles that
 *    are cut are masked; blocks with many keys start first.
 *
 * Registers: of a lane's, 128 hold out (32 x 128 sums a warp), 64 scores, 8 high and sum, 12
 * operands. With addresses that is the 255 that a thread may have, and a multiprocessor holds two
 * blocks: one's exponentials run beside the other's products. Shared memory: 32 KB of queries, two
 * stages of 16 KB of keys and 16 KB of values. Two blocks need 192 of Hopper's 227 KB; where a
 * block may have no more than 99 KB there is room for one.
 *
 * The cost removed: the multiply-adds in fp32 of 4h. The cost left: what a warp multiplies it
 * loads first, 512 bytes of keys or values for four products, and on Hopper no stream of `mma.sync`
 * keeps the tensor cores more than 63 % busy (4a).
 */
#include "4c_flash_attention2/flash_attention2.h"
#include "4c_tile.cuh"
#include "not_implemented.h"
#include <float.h>
#include <math.h>

/* TODO: the sizes, and weigh: scores become weights, and high, sum and out keep up (about 70
   lines). */

/* TODO: the mask; attention_flash2_kernel, two stages of keys and values; and its launch (about
   95 lines). */

cudaError_t attention_flash2(__nv_bfloat16 *out, float *lse, const __nv_bfloat16 *q,
                             const __nv_bfloat16 *k, const __nv_bfloat16 *v, int batch, int heads,
                             int seq, int dim, int causal, float scale, cudaStream_t stream)
{
    /* TODO: what is refused, what is empty, the launch for this dim; are the chunks of all rows
       aligned? (about 9 lines) */
    NOT_IMPLEMENTED(out, lse, q, k, v, batch, heads, seq, dim, causal, scale, stream);
    return cudaGetLastError();
}
