// WRONG: forward_2x1025 | y[0][
/* A thread per column: a block ends at 1,024 threads, and the columns after that are left out. */
#include "layers.h"
#include <math.h>

__device__ static float block_reduce(float value, bool maximum)
{
    __shared__ float values[1024];
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            float other = values[threadIdx.x + half];
            values[threadIdx.x] =
                maximum ? fmaxf(values[threadIdx.x], other) : values[threadIdx.x] + other;
        }
        __syncthreads();
    }
    float result = values[0];
    __syncthreads();
    return result;
}

__global__ static void forward_kernel(float *y, const float *x, int cols)
{
    int c = threadIdx.x;
    size_t i = (size_t)blockIdx.x * cols + c;
    float max = block_reduce(c < cols ? x[i] : -INFINITY, true);
    float e = c < cols && max > -INFINITY ? expf(x[i] - max) : 0.0f;
    float sum = block_reduce(e, false);
    if (c < cols) y[i] = max > -INFINITY || isnan(max) ? e / sum : 0.0f;
}

__global__ static void backward_kernel(float *grad_x, const float *grad_y, const float *y, int cols)
{
    int c = threadIdx.x;
    size_t i = (size_t)blockIdx.x * cols + c;
    float dot = block_reduce(c < cols ? grad_y[i] * y[i] : 0.0f, false);
    if (c < cols) grad_x[i] = y[i] * (grad_y[i] - dot);
}

cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    forward_kernel<<<rows, 1024, 0, stream>>>(y, x, cols);
    return cudaGetLastError();
}

cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    backward_kernel<<<rows, 1024, 0, stream>>>(grad_x, grad_y, y, cols);
    return cudaGetLastError();
}
