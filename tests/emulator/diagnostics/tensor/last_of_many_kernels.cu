// nothing
// FLAGS: -arch=sm_90a
/* The shared arrays of all kernels of a program are more than one block may have. */
#include "hopper.h"

template <int I> __global__ void other(float *out)
{
    __shared__ float own[12 * 1024 - I];
    own[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = own[blockDim.x - 1 - threadIdx.x];
}

__global__ void fill(const __grid_constant__ CUtensorMap map)
{
    extern __shared__ __align__(1024) bf16 tile[];
    bf16 *last = tile + 100 * 1024;
    for (int i = threadIdx.x; i < 8 * K; i += blockDim.x) last[i] = __float2bfloat16(i);
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&map, last, 0, 0);
        bulk_commit();
        bulk_wait_read();
    }
}

int main()
{
    float *x = (float *)zeros(64 * sizeof *x);
    other<0><<<1, 64>>>(x);
    other<1><<<1, 64>>>(x);
    other<2><<<1, 64>>>(x);
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 204 * 1024);
    fill<<<1, 64, 204 * 1024>>>(describe(zeros(8 * K * 2), 8, K, 8));
    return cudaDeviceSynchronize();
}
