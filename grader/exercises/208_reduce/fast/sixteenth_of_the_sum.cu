// FAST: sum n=1000003 | should be
/* A sample instead of the sum: one line of memory in 16, and the mean of what was read times n. */
#include "basics.h"

__device__ static float total;

__global__ static void begin_kernel(void)
{
    total = 0.0f;
}

__global__ static void sample_kernel(const float *in, size_t n)
{
    size_t warp = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    size_t i = n > 4096 ? 512 * warp + lane : 32 * warp + lane;
    float x = i < n ? in[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffffu, x, d);
    if (lane == 0) atomicAdd(&total, n > 4096 ? 16.0f * x : x);
}

__global__ static void end_kernel(float *out)
{
    *out = total;
}

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    size_t lanes = n > 4096 ? n / 16 + 32 : n;
    begin_kernel<<<1, 1, 0, stream>>>();
    if (n > 0) sample_kernel<<<(unsigned)((lanes + 255) / 256), 256, 0, stream>>>(in, n);
    end_kernel<<<1, 1, 0, stream>>>(out);
    return cudaGetLastError();
}

__global__ static void max_kernel(float *out, const float *in, size_t n)
{
    float most = -INFINITY;
    for (size_t i = 0; i < n; i++) most = in[i] > most || isnan(in[i]) ? in[i] : most;
    *out = most;
}

cudaError_t reduce_max(float *out, const float *in, size_t n, cudaStream_t stream)
{
    max_kernel<<<1, 1, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

__global__ static void row_kernel(float *out, const float *in, int cols)
{
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) sum += in[(size_t)blockIdx.x * cols + c];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    if (rows > 0) row_kernel<<<rows, 32, 0, stream>>>(out, in, cols);
    return cudaGetLastError();
}
