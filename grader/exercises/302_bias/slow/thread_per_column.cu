// SLOW: bias_backward: instructions a warp | counted 1.00
// A thread a column: as many threads as columns, and each walks down all of the rows.
#include "layers.h"

__global__ static void bias_forward_kernel(float *y, const float *x, const float *bias, int rows,
                                           int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;

    float b = bias[col];
    size_t first = blockIdx.y * blockDim.y + threadIdx.y;
    for (size_t row = first; row < rows; row += gridDim.y * blockDim.y) {
        y[row * cols + col] = x[row * cols + col] + b;
    }
}

__global__ static void bias_backward_kernel(float *grad_bias, const float *grad_y, int rows,
                                            int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0.0f;
    for (size_t row = 0; row < rows; row++) sum += grad_y[row * cols + col];
    grad_bias[col] = sum;
}

cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream)
{
    if (rows == 0 || cols == 0) return cudaSuccess;
    dim3 block(32, 8);
    unsigned down = (rows - 1) / block.y + 1;
    dim3 grid((cols - 1) / block.x + 1, down < 1024 ? down : 1024);
    bias_forward_kernel<<<grid, block, 0, stream>>>(y, x, bias, rows, cols);
    return cudaGetLastError();
}

cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream)
{
    if (cols == 0) return cudaSuccess;
    bias_backward_kernel<<<(cols + 63) / 64, 64, 0, stream>>>(grad_bias, grad_y, rows, cols);
    return cudaGetLastError();
}
