// WRONG: forward_all_negative | the maximum starts at 0
/* The maximum starts at 0, so that a row far below 0 has no exponential left: 0 / 0. */
#include "layers.h"
#include <math.h>

#define BLOCK 128

__device__ static float block_sum(float value)
{
    __shared__ float values[BLOCK];
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    float result = values[0];
    __syncthreads();
    return result;
}

__device__ static float block_max(float value)
{
    __shared__ float values[BLOCK];
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    float result = values[0];
    __syncthreads();
    return result;
}

__global__ static void forward_kernel(float *y, const float *x, int cols)
{
    size_t row = blockIdx.x;
    x += row * cols, y += row * cols;
    float max = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) max = fmaxf(max, x[c]);
    max = block_max(max);
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(x[c] - max);
    sum = block_sum(sum);
    for (int c = threadIdx.x; c < cols; c += BLOCK) y[c] = expf(x[c] - max) / sum;
}

__global__ static void backward_kernel(float *grad_x, const float *grad_y, const float *y, int cols)
{
    size_t row = blockIdx.x;
    grad_x += row * cols, grad_y += row * cols, y += row * cols;
    float dot = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) dot += grad_y[c] * y[c];
    dot = block_sum(dot);
    for (int c = threadIdx.x; c < cols; c += BLOCK) grad_x[c] = y[c] * (grad_y[c] - dot);
}

cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    forward_kernel<<<rows, BLOCK, 0, stream>>>(y, x, cols);
    return cudaGetLastError();
}

cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    backward_kernel<<<rows, BLOCK, 0, stream>>>(grad_x, grad_y, y, cols);
    return cudaGetLastError();
}
