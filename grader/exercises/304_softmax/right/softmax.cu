// RIGHT: online softmax (two reads), a warp per row, shuffles, float4 where a row is aligned
#include "304_softmax/softmax.h"
#include <math.h>

/** A maximum and the sum of exp(x - maximum) of some numbers. */
typedef struct partial {
    float max, sum;
} partial;

__device__ static partial merge(partial a, partial b)
{
    float max = fmaxf(a.max, b.max);
    if (max == -INFINITY) return partial{max, a.sum + b.sum}; /* no weight yet, or NaN */
    partial both = {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
    return both;
}

__device__ static partial include(partial p, float x)
{
    partial one = {x, x == -INFINITY ? 0.0f : 1.0f};
    return merge(p, isnan(x) ? partial{p.max, NAN} : one);
}

/* 8 warps a block, each takes every (8 * blocks)th row. */
__global__ static void forward_kernel(float *y, const float *x, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    for (size_t row = blockIdx.x * 8 + threadIdx.x / 32; row < rows; row += gridDim.x * 8) {
        const float *in = x + row * cols;
        float *out = y + row * cols;
        int whole = (size_t)in % 16 == 0 ? cols / 4 * 4 : 0; /* columns read as float4 */

        partial p = {-INFINITY, 0.0f};
        for (int c = 4 * lane; c < whole; c += 128) {
            float4 four = *(const float4 *)(in + c);
            p = include(include(include(include(p, four.x), four.y), four.z), four.w);
        }
        for (int c = whole + lane; c < cols; c += 32) p = include(p, in[c]);
        for (int distance = 16; distance > 0; distance /= 2) {
            partial other = {__shfl_xor_sync(0xffffffffu, p.max, distance),
                             __shfl_xor_sync(0xffffffffu, p.sum, distance)};
            p = merge(p, other);
        }
        float factor = p.sum == 0.0f ? 0.0f : 1.0f / p.sum;
        float shift = p.max == -INFINITY ? 0.0f : p.max;
        for (int c = lane; c < cols; c += 32) out[c] = expf(in[c] - shift) * factor;
    }
}

__global__ static void backward_kernel(float *grad_x, const float *grad_y, const float *y, int rows,
                                       int cols)
{
    int lane = threadIdx.x % 32;
    for (size_t row = blockIdx.x * 8 + threadIdx.x / 32; row < rows; row += gridDim.x * 8) {
        size_t start = row * cols;
        float dot = 0.0f;
        for (int c = lane; c < cols; c += 32) dot = fmaf(grad_y[start + c], y[start + c], dot);
        for (int distance = 16; distance > 0; distance /= 2)
            dot += __shfl_xor_sync(0xffffffffu, dot, distance);
        for (int c = lane; c < cols; c += 32)
            grad_x[start + c] = y[start + c] * (grad_y[start + c] - dot);
    }
}

cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    int blocks = rows < 8192 ? rows : 1024;
    if (rows > 0) forward_kernel<<<blocks, 256, 0, stream>>>(y, x, rows, cols);
    return cudaGetLastError();
}

cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream)
{
    int blocks = rows < 8192 ? rows : 1024;
    if (rows > 0) backward_kernel<<<blocks, 256, 0, stream>>>(grad_x, grad_y, y, rows, cols);
    return cudaGetLastError();
}
