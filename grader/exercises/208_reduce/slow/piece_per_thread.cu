// SLOW: reduce_sum: bytes moved | counted 8.03
// Every thread sums a piece of its own, from end to end: the lanes of a warp are far apart.
#include "basics.h"

#define THREADS (64 * 256)

__device__ static float partial[THREADS];

__global__ static void piece_kernel(const float *in, size_t n)
{
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x, piece = n / THREADS + 1;
    float x = 0.0f;
    for (size_t i = thread * piece; i < (thread + 1) * piece && i < n; i++) x += in[i];
    partial[thread] = x;
}

__global__ static void final_kernel(float *out)
{
    __shared__ float values[256];
    float x = 0.0f;
    for (int i = threadIdx.x; i < THREADS; i += 256) x += partial[i];
    values[threadIdx.x] = x;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *out = values[0];
}

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    piece_kernel<<<THREADS / 256, 256, 0, stream>>>(in, n);
    final_kernel<<<1, 256, 0, stream>>>(out);
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
