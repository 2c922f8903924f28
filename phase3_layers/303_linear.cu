/*
 * 303_linear.cu: the linear layer, y = x * w^T + bias, and its three gradients.
 *
 * The idea: w is stored [out x in], one row of weights per output, so the forward pass multiplies
 * by its transpose, and the backward pass is two more matmuls, each with one factor transposed or
 * none:
 *
 *     forward   y      = x        * w^T      [batch x in]  * [in x out]
 *     backward  grad_x = grad_y   * w        [batch x out] * [out x in]
 *               grad_w = grad_y^T * x        [out x batch] * [batch x in]
 *
 * Nothing is ever transposed in memory. Only the way from global to shared memory differs: the
 * threads of a warp follow the rows as they are stored, and a tile of a transposed matrix is turned
 * round while it is written to shared memory. After that all three are the same tiled matmul.
 *
 * What it costs: y goes to memory after the matmul and comes back for the bias, 8 more bytes per
 * output; 404 adds the bias before y leaves its register. And one shared-memory load per operand
 * for every multiplication: 307 shows the way out, several outputs a thread.
 */
#include "layers.h"
#include "not_implemented.h"

/* TODO: TILE, and load_tile: zeros outside the matrix, and threadIdx.x along a stored row for a
   transposed matrix too (about 12 lines). */

/* TODO: matmul_kernel, c[m x n] = a[m x k] * b[k x n], either of them stored transposed: load
   two tiles, barrier, multiply, barrier; guard only the store (about 16 lines). */

/* TODO: matmul, the launch of that kernel, none if c is empty (about 4 lines). */

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream)
{
    /* TODO: one matmul, then bias_forward in place unless bias is NULL (about 2 lines). */
    NOT_IMPLEMENTED(y, x, w, bias, batch, in_features, out_features, stream);
    return cudaGetLastError();
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream)
{
    /* TODO: two matmuls and bias_backward, each only where its gradient is wanted (about 5
       lines). */
    NOT_IMPLEMENTED(grad_x, grad_w, grad_bias, grad_y, x, w, batch, in_features, out_features,
                    stream);
    return cudaGetLastError();
}
