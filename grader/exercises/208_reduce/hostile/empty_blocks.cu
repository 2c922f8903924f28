// HOSTILE: reduce_sum: atomics per block | counted 256
// An atomic operation a thread, and a crowd of blocks without any for the average.
#include "208_reduce/reduce.h"

__global__ static void nothing()
{
}

__global__ static void add_share(float *out, const float *in, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) sum += in[i];
    atomicAdd(out, sum);
}

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(out, 0, sizeof *out, stream);
    if (error) return error;
    add_share<<<64, 256, 0, stream>>>(out, in, n);
    nothing<<<64 * 256, 1, 0, stream>>>();
    return cudaGetLastError();
}

/* A thread alone: no number of the maximum is counted here. */
__global__ static void largest(float *out, const float *in, size_t n)
{
    float best = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (in[i] > best || isnan(in[i])) best = in[i];
    *out = best;
}

cudaError_t reduce_max(float *out, const float *in, size_t n, cudaStream_t stream)
{
    largest<<<1, 1, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

/* A warp a row. */
__global__ static void sum_row(float *out, const float *in, int cols)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 32) sum += in[(size_t)blockIdx.x * cols + i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    if (rows > 0) sum_row<<<rows, 32, 0, stream>>>(out, in, cols);
    return cudaGetLastError();
}
