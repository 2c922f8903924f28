// SLOW: bias_backward: bytes moved | counted 8.00
// A warp a column: its lanes read 32 rows at once, one element of each.
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
    int col = blockIdx.x * 4 + threadIdx.x / 32;
    if (col >= cols) return;
    float sum = 0.0f;
    for (size_t row = threadIdx.x % 32; row < rows; row += 32) sum += grad_y[row * cols + col];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) grad_bias[col] = sum;
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
    bias_backward_kernel<<<(cols + 3) / 4, 128, 0, stream>>>(grad_bias, grad_y, rows, cols);
    return cudaGetLastError();
}
