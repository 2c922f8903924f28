// RIGHT: one launch: the block that takes the last ticket adds up what the others left; float4; a
// warp a row by xor
#include "208_reduce/reduce.h"
#include <stdint.h>

#define FULL 0xffffffffu

__device__ static float of_block[256];
__device__ static unsigned tickets;

struct sum {
    __device__ static float none(void)
    {
        return 0.0f;
    }
    __device__ static float both(float a, float b)
    {
        return a + b;
    }
};

struct max_or_nan {
    __device__ static float none(void)
    {
        return -INFINITY;
    }
    __device__ static float both(float a, float b)
    {
        return isnan(a) ? a : isnan(b) ? b : fmaxf(a, b);
    }
};

template <class OP> __device__ static float all_of_block(float x)
{
    __shared__ float of_warp[32];
    __syncthreads(); /* of_warp may still be in use from an earlier call */
    for (int d = 1; d < 32; d *= 2) x = OP::both(x, __shfl_xor_sync(FULL, x, d));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x % 32 < blockDim.x / 32 ? of_warp[threadIdx.x % 32] : OP::none();
    for (int d = 1; d < 32; d *= 2) x = OP::both(x, __shfl_xor_sync(FULL, x, d));
    return x;
}

template <class OP> __global__ static void reduce_kernel(float *out, const float *in, size_t n)
{
    size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    size_t quads = (uintptr_t)in % 16 == 0 ? n / 4 : 0;
    float x = OP::none();
    for (size_t i = first; i < quads; i += stride) {
        float4 v = ((const float4 *)in)[i];
        x = OP::both(x, OP::both(OP::both(v.x, v.y), OP::both(v.z, v.w)));
    }
    for (size_t i = 4 * quads + first; i < n; i += stride) x = OP::both(x, in[i]);
    x = all_of_block<OP>(x);

    __shared__ bool last;
    if (threadIdx.x == 0) {
        of_block[blockIdx.x] = x;
        __threadfence(); /* the number is visible before the ticket is */
        last = atomicAdd(&tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    x = threadIdx.x < gridDim.x ? *(volatile float *)&of_block[threadIdx.x] : OP::none();
    x = all_of_block<OP>(x);
    if (threadIdx.x > 0) return;
    *out = x;
    tickets = 0;
}

__global__ static void row_sum_kernel(float *out, const float *in, int rows, int cols)
{
    size_t warps = (size_t)gridDim.x * blockDim.x / 32;
    for (size_t row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows; row += warps) {
        float x = 0.0f;
        for (int col = threadIdx.x % 32; col < cols; col += 32) x += in[row * cols + col];
        for (int d = 1; d < 32; d *= 2) x += __shfl_xor_sync(FULL, x, d);
        if (threadIdx.x % 32 == 0) out[row] = x;
    }
}

cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream)
{
    reduce_kernel<sum><<<256, 512, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t reduce_max(float *out, const float *in, size_t n, cudaStream_t stream)
{
    reduce_kernel<max_or_nan><<<256, 512, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    row_sum_kernel<<<1024, 128, 0, stream>>>(out, in, rows, cols);
    return cudaGetLastError();
}
