// WRONG: forward_many_rows | did not return | hangs
/* A row is cut among blocks, which meet at a barrier made of a counter and __threadfence: it orders
 * what is written, and starts nobody. With more blocks than are resident those that wait never end,
 * so the others never begin. */
#include "layers.h"
#include <math.h>

#define BLOCK 256

typedef enum reduction { SUM, MAX } reduction;

/** Combine one value per thread; every thread of the block gets the result. */
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
    __syncthreads(); /* everybody has read it before the next reduction writes */
    return result;
}

__device__ static unsigned arrived;

/* Until all blocks have come here for the `turn`-th time, and what they wrote is to be seen. */
__device__ static void grid_barrier(unsigned turn)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived < turn * gridDim.x) continue;
        __threadfence();
    }
    __syncthreads();
}

#define PART 4096 /* columns a block */

/** largest, sums [rows x parts] of each block */
__global__ static void softmax_forward_kernel(float *y, const float *x, float *largest, float *sums,
                                              int cols, int parts)
{
    int row = blockIdx.x / parts, first = blockIdx.x % parts * PART, end = min(first + PART, cols);
    x += (size_t)row * cols;
    y += (size_t)row * cols;

    float max = -INFINITY;
    for (int c = first + threadIdx.x; c < end; c += BLOCK) max = fmaxf(max, x[c]);
    max = block_reduce<MAX>(max);
    if (threadIdx.x == 0) largest[blockIdx.x] = max;
    grid_barrier(1);
    for (int i = 0; i < parts; i++) max = fmaxf(max, largest[row * parts + i]);
    if (max == -INFINITY) max = 0.0f;

    float sum = 0.0f;
    for (int c = first + threadIdx.x; c < end; c += BLOCK) sum += expf(x[c] - max);
    sum = block_reduce<SUM>(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    grid_barrier(2);
    sum = 0.0f;
    for (int i = 0; i < parts; i++) sum += sums[row * parts + i];

    bool empty = sum == 0.0f;
    for (int c = first + threadIdx.x; c < end; c += BLOCK)
        y[c] = empty ? 0.0f : expf(x[c] - max) / sum;
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
    int parts = (cols + PART - 1) / PART, blocks = rows * parts;
    float *largest;
    void *counter;
    cudaError_t error = cudaMallocAsync((void **)&largest, 2 * sizeof(float) * blocks, stream);
    if (!error) error = cudaGetSymbolAddress(&counter, arrived);
    if (error) return error;
    cudaMemsetAsync(counter, 0, sizeof arrived, stream);
    softmax_forward_kernel<<<blocks, BLOCK, 0, stream>>>(y, x, largest, largest + blocks, cols,
                                                         parts);
    cudaFreeAsync(largest, stream);
    return cudaGetLastError();
}

cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    softmax_backward_kernel<<<rows, BLOCK, 0, stream>>>(grad_x, grad_y, y, cols);
    return cudaGetLastError();
}
