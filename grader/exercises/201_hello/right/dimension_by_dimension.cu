// RIGHT: sizes and ids in arrays, folded from z to x; four separate stores; lane and warp by bits
#include "201_hello/hello.h"
#include <stdio.h>

__device__ static int fold(const unsigned id[3], const unsigned size[3])
{
    int linear = 0;
    for (int axis = 2; axis >= 0; axis--) linear = linear * size[axis] + id[axis];
    return linear;
}

__device__ static void who(int *block, int *thread, int *threads)
{
    const unsigned block_id[] = {blockIdx.x, blockIdx.y, blockIdx.z};
    const unsigned grid_size[] = {gridDim.x, gridDim.y, gridDim.z};
    const unsigned thread_id[] = {threadIdx.x, threadIdx.y, threadIdx.z};
    const unsigned block_size[] = {blockDim.x, blockDim.y, blockDim.z};
    *block = fold(block_id, grid_size);
    *thread = fold(thread_id, block_size);
    *threads = block_size[0] * block_size[1] * block_size[2];
}

__global__ static void hello_kernel(void)
{
    int block, thread, threads;
    who(&block, &thread, &threads);
    printf("Hello from block %d, thread %d\n", block, thread);
}

__global__ static void whoami_kernel(int *out)
{
    int block, thread, threads;
    who(&block, &thread, &threads);
    out += 4 * ((size_t)block * threads + thread);
    *out++ = block;
    *out++ = thread;
    *out++ = thread & (warpSize - 1);
    *out++ = thread >> 5;
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
