// RIGHT: forward row by row without a division; backward turns its sums round in shared memory, so
// that a warp can shuffle them together
#include "layers.h"

#define FULL 0xffffffffu

__global__ static void forward_kernel(float *y, const float *x, const float *bias, int rows,
                                      int cols)
{
    for (size_t row = blockIdx.x; row < (size_t)rows; row += gridDim.x) {
        for (int col = threadIdx.x; col < cols; col += blockDim.x) {
            y[row * cols + col] = x[row * cols + col] + bias[col];
        }
    }
}

/* 32 warps: while it reads, warp w takes rows w, w + 32, ... of 32 columns; then column w. */
__global__ static void backward_kernel(float *grad_bias, const float *grad_y, int rows, int cols)
{
    __shared__ float sums[32][33];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 32;
    float sum = 0.0f;
    for (int row = warp; row < rows && first + lane < cols; row += 32) {
        sum += grad_y[(size_t)row * cols + first + lane];
    }
    sums[warp][lane] = sum;
    __syncthreads();
    sum = sums[lane][warp];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(FULL, sum, d);
    if (lane == 0 && first + warp < cols) grad_bias[first + warp] = sum;
}

cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream)
{
    int blocks = rows < 2048 ? rows : 2048;
    if (blocks > 0 && cols > 0) forward_kernel<<<blocks, 256, 0, stream>>>(y, x, bias, rows, cols);
    return cudaGetLastError();
}

cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream)
{
    if (cols > 0)
        backward_kernel<<<(cols + 31) / 32, 1024, 0, stream>>>(grad_bias, grad_y, rows, cols);
    return cudaGetLastError();
}
