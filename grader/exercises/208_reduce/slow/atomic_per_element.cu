// SLOW: reduce_sum: atomics a block | counted 256.00
// An atomicAdd for every element: right, in another order every time, and all queue for one
// address.
#include "basics.h"

__global__ static void sum_kernel(float *out, const float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, in[i]);
}

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    if (n > 0) sum_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

/* Two stages over shared memory, in one block: slow, but not what is counted. */
__global__ static void max_kernel(float *out, const float *in, size_t n)
{
    __shared__ float values[1024];
    float x = -INFINITY;
    for (size_t i = threadIdx.x; i < n; i += 1024) x = x >= in[i] || isnan(x) ? x : in[i];
    values[threadIdx.x] = x;
    for (int half = 512; half > 0; half /= 2) {
        __syncthreads();
        float other = threadIdx.x < half ? values[threadIdx.x + half] : x;
        x = x >= other || isnan(x) ? x : other;
        if (threadIdx.x < half) values[threadIdx.x] = x;
    }
    if (threadIdx.x == 0) *out = x;
}

cudaError_t reduce_max(float *out, const float *in, size_t n, cudaStream_t stream)
{
    max_kernel<<<1, 1024, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

__global__ static void row_sum_kernel(float *out, const float *in, int rows, int cols)
{
    size_t row = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    float x = 0.0f;
    for (int col = threadIdx.x % 32; col < cols; col += 32) x += in[row * cols + col];
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffffu, x, d);
    if (threadIdx.x % 32 == 0) out[row] = x;
}

cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    row_sum_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(out, in, rows, cols);
    return cudaGetLastError();
}
