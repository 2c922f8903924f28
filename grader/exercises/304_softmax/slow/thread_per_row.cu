// SLOW: bytes moved | counted 1.00
// A thread per row: the lanes of a warp read 32 different rows.
#include "layers.h"
#include <math.h>

#define BLOCK 256

typedef enum reduction { SUM, MAX } reduction;

template <reduction HOW> __device__ static float block_reduce(float value)
{
    __shared__ float values[BLOCK];
    int t = threadIdx.x;
    values[t] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) {
            float other = values[t + half];
            values[t] = HOW == SUM ? values[t] + other : fmaxf(values[t], other);
        }
        __syncthreads();
    }
    float result = values[0];
    __syncthreads();
    return result;
}

__global__ static void softmax_forward_kernel(float *y, const float *x, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += (size_t)row * cols;
    y += (size_t)row * cols;
    float max = -INFINITY, sum = 0.0f;
    for (int c = 0; c < cols; c++) max = fmaxf(max, x[c]);
    if (max == -INFINITY) max = 0.0f;
    for (int c = 0; c < cols; c++) sum += expf(x[c] - max);
    bool empty = sum == 0.0f;
    for (int c = 0; c < cols; c++) y[c] = empty ? 0.0f : expf(x[c] - max) / sum;
}

__global__ static void softmax_backward_kernel(float *grad_x, const float *grad_y, const float *y,
                                               int cols)
{
    grad_x += (size_t)blockIdx.x * cols;
    grad_y += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;

    float dot = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) dot += grad_y[c] * y[c];
    dot = block_reduce<SUM>(dot);

    for (int c = threadIdx.x; c < cols; c += BLOCK) grad_x[c] = y[c] * (grad_y[c] - dot);
}

cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    softmax_forward_kernel<<<(rows + 31) / 32, 32, 0, stream>>>(y, x, rows, cols);
    return cudaGetLastError();
}

cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    softmax_backward_kernel<<<rows, BLOCK, 0, stream>>>(grad_x, grad_y, y, cols);
    return cudaGetLastError();
}
