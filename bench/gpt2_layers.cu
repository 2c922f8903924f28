/*
 * gpt2_layers.cu: the linear layer of 303 by the product of 4g, so that 508's network trains GPT-2
 * on tensor cores with fp32's accuracy. 508 needs no change: it calls the functions of layers.h.
 *
 * 4g multiplies matrices as they are stored. Where 303 needs a transpose, 209 makes it first, in
 * memory of the stream: of the smaller factor, and where that transposes the result, of the result.
 *
 *     forward   y        = x w^T              w turned
 *     backward  grad_x   = grad_y w
 *               grad_w^T = x^T grad_y         x turned, and what comes of it
 */
#include "basics.h"
#include "cuda_check.h"
#include "layers.h"
#include "optimization.h"

static cudaError_t multiply_forward(float *turned, float *y, const float *x, const float *w,
                                    int batch, int in_features, int out_features,
                                    cudaStream_t stream)
{
    CUDA_CHECK(transpose(turned, w, out_features, in_features, stream));
    return matmul_3xtf32(y, x, turned, batch, out_features, in_features, stream);
}

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream)
{
    float *turned; /* [in x out] */
    const size_t bytes = (size_t)in_features * out_features * sizeof *turned;
    CUDA_CHECK(cudaMallocAsync((void **)&turned, bytes, stream));
    const cudaError_t error =
        multiply_forward(turned, y, x, w, batch, in_features, out_features, stream);
    CUDA_CHECK(cudaFreeAsync(turned, stream));
    CUDA_CHECK(error);
    return bias == NULL ? cudaSuccess : bias_forward(y, y, bias, batch, out_features, stream);
}

/* @param x_turned [in x batch] @param w_turned [in x out] */
static cudaError_t multiply_weights(float *x_turned, float *w_turned, float *grad_w,
                                    const float *grad_y, const float *x, int batch, int in_features,
                                    int out_features, cudaStream_t stream)
{
    CUDA_CHECK(transpose(x_turned, x, batch, in_features, stream));
    CUDA_CHECK(matmul_3xtf32(w_turned, x_turned, grad_y, in_features, out_features, batch, stream));
    return transpose(grad_w, w_turned, in_features, out_features, stream);
}

static cudaError_t backward_weights(float *grad_w, const float *grad_y, const float *x, int batch,
                                    int in_features, int out_features, cudaStream_t stream)
{
    float *turned;
    const size_t x_floats = (size_t)in_features * batch;
    const size_t bytes = (x_floats + (size_t)in_features * out_features) * sizeof *turned;
    CUDA_CHECK(cudaMallocAsync((void **)&turned, bytes, stream));
    const cudaError_t error = multiply_weights(turned, turned + x_floats, grad_w, grad_y, x, batch,
                                               in_features, out_features, stream);
    CUDA_CHECK(cudaFreeAsync(turned, stream));
    return error;
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream)
{
    if (grad_x != NULL)
        CUDA_CHECK(matmul_3xtf32(grad_x, grad_y, w, batch, in_features, out_features, stream));
    if (grad_w != NULL)
        CUDA_CHECK(backward_weights(grad_w, grad_y, x, batch, in_features, out_features, stream));
    if (grad_bias == NULL) return cudaSuccess;
    return bias_backward(grad_bias, grad_y, batch, out_features, stream);
}
