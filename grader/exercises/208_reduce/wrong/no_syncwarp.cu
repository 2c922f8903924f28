// WRONG: sum n=257 | __syncwarp | race
// The last warp goes on without barriers, as one did when its lanes always ran in step: right,
// today.
#include "basics.h"

__device__ static float partial[256];

__device__ static float block_sum(float x)
{
    __shared__ volatile float values[256];
    unsigned t = threadIdx.x;
    values[t] = x;
    for (int half = 128; half > 16; half /= 2) {
        __syncthreads();
        if (t < half) values[t] = values[t] + values[t + half];
    }
    if (t < 16) {
        for (int half = 16; half > 0; half /= 2) values[t] = values[t] + values[t + half];
    }
    return values[0];
}

__global__ static void blocks_kernel(const float *in, size_t n)
{
    float x = 0.0f;
    for (size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) x += in[i];
    x = block_sum(x);
    if (threadIdx.x == 0) partial[blockIdx.x] = x;
}

__global__ static void final_kernel(float *out)
{
    float x = block_sum(partial[threadIdx.x]);
    if (threadIdx.x == 0) *out = x;
}

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    blocks_kernel<<<256, 256, 0, stream>>>(in, n);
    final_kernel<<<1, 256, 0, stream>>>(out);
    return cudaGetLastError();
}

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
