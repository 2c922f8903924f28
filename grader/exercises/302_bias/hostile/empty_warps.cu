// HOSTILE: reduction in instructions per warp over one thread per column | counted 0.
// One thread a column, as in the baseline, and a crowd of warps with nothing to do for the average.
#include "302_bias/bias.h"

__global__ static void nothing()
{
}

__global__ static void add_bias(float *y, const float *x, const float *bias, size_t n, int cols)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + bias[i % cols];
}

__global__ static void sum_columns(float *grad_bias, const float *grad_y, size_t n, int cols)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0.0f;
    for (size_t i = col; i < n; i += cols) sum += grad_y[i];
    grad_bias[col] = sum;
}

cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream)
{
    const size_t n = (size_t)rows * cols;
    if (n == 0) return cudaSuccess;
    add_bias<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(y, x, bias, n, cols);
    return cudaGetLastError();
}

cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream)
{
    if (cols == 0) return cudaSuccess;
    const size_t n = (size_t)rows * cols;
    sum_columns<<<(cols + 255) / 256, 256, 0, stream>>>(grad_bias, grad_y, n, cols);
    nothing<<<100, 256, 0, stream>>>();
    return cudaGetLastError();
}
