// RIGHT: ids by accumulation, one int4 store
#include "201_hello/hello.h"
#include <stdio.h>

struct who {
    int block, thread, lane, warp;
};

__device__ static unsigned linear(uint3 at, dim3 size)
{
    return at.x + size.x * (at.y + size.y * at.z);
}

__global__ static void hello_kernel(void)
{
    int block = linear(blockIdx, gridDim), thread = linear(threadIdx, blockDim);
    printf("Hello from block %d, thread %d\n", block, thread);
}

__global__ static void whoami_kernel(who *out)
{
    int block = linear(blockIdx, gridDim), thread = linear(threadIdx, blockDim);
    int size = blockDim.x * blockDim.y * blockDim.z;
    who me = {block, thread, thread & 31, thread >> 5};
    out[(size_t)block * size + thread] = me;
}

cudaError_t hello(dim3 grid, dim3 block, cudaStream_t stream)
{
    hello_kernel<<<grid, block, 0, stream>>>();
    return cudaPeekAtLastError();
}

cudaError_t whoami(int *out, dim3 grid, dim3 block, cudaStream_t stream)
{
    void *arguments[] = {&out};
    return cudaLaunchKernel((const void *)whoami_kernel, grid, block, arguments, 0, stream);
}
