// RIGHT: forward row by row without a division; backward turns its sums round in shared memory, so
// that a warp can shuffle them together, and the block that is last adds what all have left
#include "302_bias/bias.h"

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

#define SLICES 32  /* no more than lanes: in the end each has one */
#define GROUPS 128 /* of 32 columns; more need no slices */

__device__ static float of_slice[SLICES][GROUPS * 32];
__device__ static unsigned tickets[GROUPS]; /* back at 0 when a group is done */

__device__ static float warp_sum(float x)
{
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(FULL, x, d);
    return x;
}

/* 32 warps: while it reads, warp w takes rows w, w + 32, ... of 32 columns; then column w. */
__device__ static float column_of_warp(const float *grad_y, long row, long end, int cols)
{
    __shared__ float sums[32][33];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, col = blockIdx.x * 32 + lane;
    float sum = 0.0f;
    for (row += warp; row < end && col < cols; row += 32) sum += grad_y[row * cols + col];
    sums[warp][lane] = sum;
    __syncthreads();
    return warp_sum(sums[lane][warp]);
}

__global__ static void backward_kernel(float *grad_bias, const float *grad_y, int rows, int cols)
{
    __shared__ bool last;
    const int lane = threadIdx.x % 32, col = blockIdx.x * 32 + threadIdx.x / 32;
    const long n = gridDim.y, first = rows * (long)blockIdx.y / n;
    const float sum = column_of_warp(grad_y, first, rows * (blockIdx.y + 1L) / n, cols);
    if (n == 1) {
        if (lane == 0 && col < cols) grad_bias[col] = sum;
        return;
    }
    if (lane == 0) of_slice[blockIdx.y][col] = sum;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&tickets[blockIdx.x], n - 1) == n - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    const float total = warp_sum(lane < n ? of_slice[lane][col] : 0.0f);
    if (lane == 0 && col < cols) grad_bias[col] = total;
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
    const int groups = (cols + 31) / 32;
    int slices = rows < 1024 || groups > GROUPS ? 1 : rows / 1024;
    if (slices > SLICES) slices = SLICES;
    if (cols > 0)
        backward_kernel<<<dim3(groups, slices), 1024, 0, stream>>>(grad_bias, grad_y, rows, cols);
    return cudaGetLastError();
}
