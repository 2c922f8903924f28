// RIGHT: blocks of 128 that stride over the rows; rows of up to 4096 columns are read once, into
// shared memory; reductions by shuffles
#include "304_softmax/softmax.h"
#include <math.h>

#define THREADS 128
#define KEPT    4096 /* columns */
#define FULL    0xffffffffu

__device__ static float of_warp(float x, bool largest)
{
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_xor_sync(FULL, x, d);
        x = largest ? fmaxf(x, other) : x + other;
    }
    return x;
}

__device__ static float of_block(float x, bool largest)
{
    __shared__ float parts[THREADS / 32];
    x = of_warp(x, largest);
    __syncthreads(); /* the parts of the call before have been read */
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = parts[0];
    for (int w = 1; w < THREADS / 32; w++) x = largest ? fmaxf(x, parts[w]) : x + parts[w];
    return x;
}

__global__ static void forward_kernel(float *y, const float *x, int rows, int cols)
{
    __shared__ float row[KEPT];
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        const float *in = x + (size_t)r * cols;
        float *out = y + (size_t)r * cols;
        float max = -INFINITY, sum = 0.0f;
        for (int c = threadIdx.x; c < cols; c += THREADS) {
            float v = in[c];
            if (c < KEPT) row[c] = v; /* for this same thread */
            max = fmaxf(max, v);
        }
        max = of_block(max, true);
        float shift = max == -INFINITY ? 0.0f : max;
        for (int c = threadIdx.x; c < cols; c += THREADS)
            sum += expf((c < KEPT ? row[c] : in[c]) - shift);
        sum = of_block(sum, false);
        float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
        for (int c = threadIdx.x; c < cols; c += THREADS) {
            out[c] = expf((c < KEPT ? row[c] : in[c]) - shift) * factor;
        }
    }
}

__global__ static void backward_kernel(float *grad_x, const float *grad_y, const float *y, int rows,
                                       int cols)
{
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        size_t start = (size_t)r * cols;
        float dot = 0.0f;
        for (int c = threadIdx.x; c < cols; c += THREADS) dot += grad_y[start + c] * y[start + c];
        dot = of_block(dot, false);
        for (int c = threadIdx.x; c < cols; c += THREADS) {
            grad_x[start + c] = (grad_y[start + c] - dot) * y[start + c];
        }
    }
}

cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    int blocks = rows < 4096 ? rows : 4096;
    if (blocks > 0) forward_kernel<<<blocks, THREADS, 0, stream>>>(y, x, rows, cols);
    return cudaGetLastError();
}

cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream)
{
    int blocks = rows < 4096 ? rows : 4096;
    if (blocks > 0) backward_kernel<<<blocks, THREADS, 0, stream>>>(grad_x, grad_y, y, rows, cols);
    return cudaGetLastError();
}
