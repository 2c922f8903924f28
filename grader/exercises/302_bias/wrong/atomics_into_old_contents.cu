// WRONG: backward 17x33 | nothing has written / is nan
#include "layers.h"

__global__ static void forward_kernel(float *y, const float *x, const float *bias, int rows,
                                      int cols)
{
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < (size_t)rows * cols) y[i] = x[i] + bias[i % cols];
}

__global__ static void backward_kernel(float *grad_bias, const float *grad_y, int rows, int cols)
{
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < (size_t)rows * cols) atomicAdd(&grad_bias[i % cols], grad_y[i]);
}

cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream)
{
    size_t size = (size_t)rows * cols;
    if (size > 0) forward_kernel<<<(size + 255) / 256, 256, 0, stream>>>(y, x, bias, rows, cols);
    return cudaGetLastError();
}

cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream)
{
    if (cols == 0) return cudaSuccess;
    size_t size = (size_t)rows * cols;
    if (size == 0) return cudaMemsetAsync(grad_bias, 0, cols * sizeof(float), stream);
    backward_kernel<<<(size + 255) / 256, 256, 0, stream>>>(grad_bias, grad_y, rows, cols);
    return cudaGetLastError();
}
