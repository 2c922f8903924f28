// SLOW: row_sum: bytes moved | counted 1.00
// A thread a row: the lanes of a warp read 32 different rows. A sum takes an atomic a block.
#include "basics.h"

__global__ static void sum_kernel(float *out, const float *in, size_t n)
{
    __shared__ float values[256];
    float x = 0.0f;
    for (size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) x += in[i];
    values[threadIdx.x] = x;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(out, values[0]);
}

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(float), stream);
    sum_kernel<<<256, 256, 0, stream>>>(out, in, n);
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
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float x = 0.0f;
    for (int col = 0; col < cols; col++) x += in[row * cols + col];
    out[row] = x;
}

cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    row_sum_kernel<<<(rows + 255) / 256, 256, 0, stream>>>(out, in, rows, cols);
    return cudaGetLastError();
}
