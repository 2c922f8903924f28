/*
 * 303_linear.cu: the linear layer, y = x * w^T + bias, and its three gradients.
 *
 * The idea: w is stored [out x in], one row of weights per output, so the forward pass multiplies
 * by its transpose, and the backward pass is two more products, each with one factor transposed or
 * none:
 *
 *     forward   y      = x        * w^T      [batch x in]  * [in x out]      NT
 *     backward  grad_x = grad_y   * w        [batch x out] * [out x in]      NN
 *               grad_w = grad_y^T * x        [out x batch] * [batch x in]    TN
 *
 * 212 has all three products; the one with nothing transposed is a batch of one. The bias is 302's.
 * So this file needs no kernel. It has to choose the product and its sizes, and to leave out the
 * gradients that the caller does not want.
 *
 * What it costs: y goes to memory after the product and comes back for the bias, 8 more bytes per
 * output; 404 adds the bias before y leaves its register. And the products are as slow as 212's:
 * one shared-memory load per operand for every multiplication. 214 shows the way out.
 */
#include "212_matmul_transposed/matmul_transposed.h"
#include "302_bias/bias.h"
#include "303_linear/linear.h"
#include "cuda_check.h"
#include "not_implemented.h"

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream)
{
    /* SOLUTION: a product of 212's, then bias_forward in place unless bias is NULL (about 2
       lines). */
    CUDA_CHECK(matmul_nt(y, x, w, batch, out_features, in_features, stream));
    if (bias != NULL) CUDA_CHECK(bias_forward(y, y, bias, batch, out_features, stream));
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream)
{
    /* SOLUTION: two products of 212's and bias_backward, each only where its gradient is wanted
       (about 6 lines). */
    if (grad_x != NULL)
        CUDA_CHECK(matmul_batched(grad_x, grad_y, w, batch, in_features, out_features, 1, 0, 0, 0,
                                  stream)); /* a batch of one: no strides */
    if (grad_w != NULL)
        CUDA_CHECK(matmul_tn(grad_w, grad_y, x, out_features, in_features, batch, stream));
    if (grad_bias != NULL)
        CUDA_CHECK(bias_backward(grad_bias, grad_y, batch, out_features, stream));
    /* END SOLUTION */
    return cudaSuccess;
}
