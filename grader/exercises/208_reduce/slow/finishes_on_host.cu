// SLOW: reduce_sum: copies between host and device | counted 1.00
// The blocks' sums go to the host, which adds them up: the stream stops there and the bus is slow.
#include "basics.h"

#define BLOCKS 256

__device__ static float partial[BLOCKS];

__global__ static void sum_kernel(const float *in, size_t n)
{
    __shared__ float values[256];
    float x = 0.0f;
    for (size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += BLOCKS * 256) x += in[i];
    values[threadIdx.x] = x;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = values[0];
}

__global__ static void store_kernel(float *out, float value)
{
    *out = value;
}

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    float h_partial[BLOCKS], sum = 0.0f;
    sum_kernel<<<BLOCKS, 256, 0, stream>>>(in, n);
    cudaMemcpyFromSymbolAsync(h_partial, partial, sizeof h_partial, 0, cudaMemcpyDeviceToHost,
                              stream);
    cudaStreamSynchronize(stream);
    for (int i = 0; i < BLOCKS; i++) sum += h_partial[i];
    store_kernel<<<1, 1, 0, stream>>>(out, sum);
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
