// WRONG: forward_nan_among_masked | a NaN in x
/* The maximum of a NaN and -infinities is -infinity: the row is taken for one without weight. */
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

__global__ static void softmax_forward_kernel(float *y, const float *x, int cols)
{
    x += (size_t)blockIdx.x * cols; /* both now point at the row of this block */
    y += (size_t)blockIdx.x * cols;

    float max = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += BLOCK) max = fmaxf(max, x[c]);
    max = block_reduce<MAX>(max);

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(x[c] - max);
    sum = block_reduce<SUM>(sum);

    bool empty = max == -INFINITY;
    for (int c = threadIdx.x; c < cols; c += BLOCK) y[c] = empty ? 0.0f : expf(x[c] - max) / sum;
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
    if (rows == 0) return cudaSuccess; /* an empty grid is a launch error */
    softmax_forward_kernel<<<rows, BLOCK, 0, stream>>>(y, x, cols);
    return cudaGetLastError();
}

cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    softmax_backward_kernel<<<rows, BLOCK, 0, stream>>>(grad_x, grad_y, y, cols);
    return cudaGetLastError();
}
