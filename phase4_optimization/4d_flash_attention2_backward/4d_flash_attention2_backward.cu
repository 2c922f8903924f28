/*
 * 4d_flash_attention2_backward.cu: the gradients of attention without a matrix of seq x seq.
 *
 * The forward pass left one number per query, lse, and that is enough: a score and an exponential
 * give a weight.
 *
 *     p      = e^(scale q k^T - lse)
 *     grad_p = grad_out v^T              grad_s = p (grad_p - D),  D = row sums of grad_out * out
 *     grad_v = p^T grad_out
 *     grad_k = scale grad_s^T q
 *     grad_q = scale grad_s k
 *
 * D equals the row sums of p * grad_p, but needs neither. The gradients of a key are sums over
 * queries, that of a query is a sum over keys. Each block should own the sums that it adds to, so
 * there are two kernels like that of 4c:
 *
 *     keys_kernel      a block has 64 keys and walks along the queries:   grad_k, grad_v
 *     queries_kernel   a block has 64 queries and walks along the keys:   grad_q
 *
 * The first one has its scores transposed, keys q^T. So p^T and grad_s^T lie in registers as `mma`
 * takes them, like the weights of 4c.
 *
 * Registers: 16 keys per warp, so that a lane has 64 for grad_k, 64 for grad_v, 32 for scores, 32
 * for grad_p and 8 for operands: two blocks per multiprocessor. Shared memory: 64 rows of two
 * arrays, two stages of 64 rows of two others, 96 KB, and 1 KB of lse and D; twice 97 of Hopper's
 * 227 KB.
 *
 * The cost removed: seq x seq probabilities, and their gradients. The cost left: scores and grad_p
 * are computed twice, seven products where five would do. Five need atomic additions to grad_q in
 * fp32, in an order that changes from run to run. And a warp of 16 rows loads 512 bytes of shared
 * memory for two products, twice what 4c does: 32 rows would take too many registers.
 */
#include "../../phase4_optimization/4c_flash_attention2/4c_tile.cuh"
#include "4c_flash_attention2/flash_attention2.h"
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include "not_implemented.h"
#include <cuda_pipeline.h>

/* TODO: the sizes; the numbers of each query, and sums_kernel (about 40 lines). */

/* TODO: keys_kernel (about 70 lines). */

/* TODO: queries_kernel: the same with the sides exchanged, and one sum (about 55 lines). */

/* TODO: the launches (about 40 lines). */

cudaError_t attention_flash2_backward(__nv_bfloat16 *grad_q, __nv_bfloat16 *grad_k,
                                      __nv_bfloat16 *grad_v, const __nv_bfloat16 *grad_out,
                                      const __nv_bfloat16 *out, const float *lse,
                                      const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                                      const __nv_bfloat16 *v, int batch, int heads, int seq,
                                      int dim, int causal, float scale, cudaStream_t stream)
{
    /* TODO: calls that are refused or empty; memory in the stream for lse and D; three launches
       (about 20 lines). */
    NOT_IMPLEMENTED(grad_q, grad_k, grad_v, grad_out, out, lse, q, k, v, batch, heads, seq, dim,
                    causal, scale, stream);
    return cudaGetLastError();
}
