// WRONG: whoami 1 block of 4x3x5 | never written
#include "basics.h"
#include <stdio.h>

__device__ static unsigned block_id(void)
{
    return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

__device__ static unsigned thread_id(void)
{
    return threadIdx.y * blockDim.x + threadIdx.x;
}

__global__ static void hello_kernel(void)
{
    printf("Hello from block %u, thread %u\n", block_id(), thread_id());
}

__global__ static void whoami_kernel(int *out)
{
    size_t i = (size_t)block_id() * (blockDim.x * blockDim.y * blockDim.z) + thread_id();
    out[4 * i] = block_id();
    out[4 * i + 1] = thread_id();
    out[4 * i + 2] = thread_id() % 32;
    out[4 * i + 3] = thread_id() / 32;
}

cudaError_t hello(dim3 grid, dim3 block, cudaStream_t stream)
{
    hello_kernel<<<grid, block, 0, stream>>>();
    return cudaGetLastError();
}

cudaError_t whoami(int *out, dim3 grid, dim3 block, cudaStream_t stream)
{
    whoami_kernel<<<grid, block, 0, stream>>>(out);
    return cudaGetLastError();
}
