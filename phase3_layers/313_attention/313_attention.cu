/*
 * 313_attention.cu: attention and its gradients, by tiled products and a softmax of rows.
 *
 * The idea: each query asks all keys how well they fit, and takes so much of each value:
 *
 *     s = scale q k^T        p = softmax of each row of s        out = p v
 *
 * Those are two products and a softmax, of batch x heads pairs of matrices at once. The kernel of
 * 212 multiplies any matrices by their strides, k^T too, and a grid takes all heads. Causal, a
 * query knows no key that comes after it: row t of p has t + 1 entries, and then zeros, which are
 * stored, since p v reads them.
 *
 * Backward, the softmax's gradient stands between products in the other direction:
 *
 *     grad_v = p^T grad_out
 *     grad_p = grad_out v^T
 *     grad_s = p (grad_p - sum of p grad_p over the row)
 *     grad_q = scale grad_s k
 *     grad_k = scale grad_s^T q
 *
 * p is computed again: to keep it from the forward pass would take seq x seq floats a head, in each
 * layer of a network, until its backward pass comes.
 *
 * What it costs: s is written, read and written by the softmax, and read again: memory and bytes
 * grow with the square of seq. 409 never stores it. Causal, half of each product is with zeros.
 */
#include "../../phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"
#include "212_matmul_transposed/matmul_transposed.h"
#include "313_attention/attention.h"
#include "not_implemented.h"
#include <math.h>

/* TODO: two operands: a stack of matrices, one a head, and the same turned (about 12 lines). */

/* TODO: the product of 212, times a factor, and its launch; c lies as a stack (about 30
   lines). */

/* TODO: the sum and the maximum of one value a lane, for every lane (about 12 lines). */

/* TODO: softmax_kernel, in place, a warp a row: of the keys that the query may see; zeros for
   the others (about 20 lines). */

/* TODO: softmax_backward_kernel, a warp a row: grad_p becomes grad_s; behind the mask p is 0,
   and so is grad_s (about 12 lines). */

/* TODO: probabilities: p [heads x seq x seq] from q and k, by two launches (about 9 lines). */

cudaError_t attention_naive(float *out, const float *q, const float *k, const float *v, int batch,
                            int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    /* TODO: memory for p on the stream; probabilities, times v; the memory goes back (about 8
       lines). */
    NOT_IMPLEMENTED(out, q, k, v, batch, heads, seq, dim, causal, scale, stream);
    return cudaGetLastError();
}

cudaError_t attention_naive_backward(float *grad_q, float *grad_k, float *grad_v,
                                     const float *grad_out, const float *q, const float *k,
                                     const float *v, int batch, int heads, int seq, int dim,
                                     int causal, float scale, cudaStream_t stream)
{
    /* TODO: memory for p and grad_p, one after the other; p again, then the five lines of the
       opening comment (about 18 lines). */
    NOT_IMPLEMENTED(grad_q, grad_k, grad_v, grad_out, q, k, v, batch, heads, seq, dim, causal,
                    scale, stream);
    return cudaGetLastError();
}
