/*
 * 409_flash_attention.cu: attention whose scores never leave the multiprocessor, by an online
 * softmax.
 *
 * The idea: 313 stores seq x seq scores, because the softmax needs the maximum and the sum of a
 * whole row before it knows its first weight. Here a block keeps its queries and goes through the
 * keys a tile at a time. Of each query it carries what it has seen so far: the largest score m, the
 * sum l of exp(score - m), and the sum o of exp(score - m) v. If the next tile has a larger score,
 * both sums were taken relative to too small an m, and the factor by which is known:
 *
 *     new m  = max(m, scores of the tile)           shrink = exp(m - new m)
 *     l = l shrink + sum of exp(score - new m)      o = o shrink + sum of exp(score - new m) v
 *
 * In the end out = o / l, and lse = m + log l, which a backward pass wants. The exponentials are
 * powers of 2, which the hardware has: log2(e) is in the factor of q.
 *
 * Both products go as in 401: each thread has 8 x 8 scores in registers, and 8 rows of o, and
 * fetches four floats at a time from shared memory. A warp has 32 queries of its own, so that
 * weights pass from the threads that have them to those that need them without a barrier. While one
 * product runs, cp.async brings the tile of the other (2a).
 *
 * Causal, tiles that come after all queries of a block are not fetched, and a warp passes over
 * those that come after its own: half of the work. The blocks with the longest way start first.
 *
 * The cost removed: bytes that grow with the square of seq. The cost left: 4 seq^2 dim operations
 * a head in fp32; tensor cores have 16 times as many (4c).
 */
#include "409_flash_attention/flash_attention.h"
#include "not_implemented.h"
#include <math.h>
#include <stdint.h>

/* TODO: the sizes, the tiles in shared memory, what a thread carries (about 40 lines). */

/* TODO: a copy of rows to shared memory that nobody waits for, and the wait (about 40 lines).
 */

/* TODO: s = q k^T: `row` is the thread's first query, `lane` its first key; the next ones are
   4 and 8 further (about 30 lines). */

/* TODO: mask, for tiles at the diagonal and at the end: keys that a query must not see score
   -infinity (about 15 lines). */

/* TODO: the online softmax: s becomes weights, what was seen before shrinks (about 25 lines).
 */

/* TODO: o += p v: the weights of a part of the keys go to shared memory, where all threads of
   the warp find them (about 50 lines). */

/* TODO: the end: sums of the threads that share a query, out and lse (about 25 lines). */

/* TODO: flash_kernel: a block per QUERIES of a head; a loop over tiles of keys (about 55
   lines). */

cudaError_t attention_flash(float *out, float *lse, const float *q, const float *k, const float *v,
                            int batch, int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    if (dim > 128) return cudaErrorInvalidValue;
    /* TODO: what the kernel is to compute, by the smallest DIM that dim fits in (about 9
       lines). */
    NOT_IMPLEMENTED(out, lse, q, k, v, batch, heads, seq, dim, causal, scale, stream);
    return cudaGetLastError();
}
