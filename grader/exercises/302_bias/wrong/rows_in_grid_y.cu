// WRONG: forward 70000x1 | invalid configuration / invalid argument
#include "layers.h"

__global__ static void forward_kernel(float *y, const float *x, const float *bias, int cols)
{
    int col = blockIdx.x * 256 + threadIdx.x;
    size_t row = blockIdx.y;
    if (col < cols) y[row * cols + col] = x[row * cols + col] + bias[col];
}

__global__ static void backward_kernel(float *grad_bias, const float *grad_y, int rows, int cols)
{
    __shared__ float sums[8][32];
    int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (size_t row = threadIdx.y; row < rows && col < cols; row += 8) {
        sum += grad_y[row * cols + col];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || col >= cols) return;
    for (int y = 1; y < 8; y++) sum += sums[y][threadIdx.x];
    grad_bias[col] = sum;
}

cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream)
{
    dim3 grid((cols + 255) / 256, rows); /* grid.y ends at 65,535 */
    if (rows > 0 && cols > 0) forward_kernel<<<grid, 256, 0, stream>>>(y, x, bias, cols);
    return cudaGetLastError();
}

cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream)
{
    if (cols == 0) return cudaSuccess;
    backward_kernel<<<(cols + 31) / 32, dim3(32, 8), 0, stream>>>(grad_bias, grad_y, rows, cols);
    return cudaGetLastError();
}
