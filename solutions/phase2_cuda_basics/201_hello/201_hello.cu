/*
 * 201_hello.cu: every thread says who it is.
 *
 * The idea: one function runs once per thread, and only its built-in variables tell the threads
 * apart. Blocks and threads may be counted in three dimensions; underneath there is one line of
 * blocks and one line of threads, x fastest. A warp is 32 neighbours of that line of threads,
 * whatever the shape of the block, so lane and warp come from the linear id, never from threadIdx.x
 * alone.
 *
 * What it costs: nothing here is fast. Blocks run in any order, and so the lines of `hello` arrive
 * in any order; printf goes through a small buffer that the host prints when it synchronises. Use
 * it for debugging, not for output.
 */
#include "201_hello/hello.h"
#include "not_implemented.h"
#include <stdio.h>

/* SOLUTION: linear_block and linear_thread, two device functions: ids counted with x fastest, then
   y, then z (about 2 lines). */
__device__ static unsigned linear_block(void)
{
    return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

__device__ static unsigned linear_thread(void)
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
/* END SOLUTION */

/* SOLUTION: hello_kernel: one printf. whoami_kernel: find this thread's place in out, write four
   ints (about 8 lines). */
__global__ static void hello_kernel(void)
{
    printf("Hello from block %u, thread %u\n", linear_block(), linear_thread());
}

__global__ static void whoami_kernel(int *out)
{
    unsigned block = linear_block();
    unsigned thread = linear_thread();
    unsigned block_size = blockDim.x * blockDim.y * blockDim.z;

    int *mine = out + 4 * ((size_t)block * block_size + thread);
    mine[0] = block;
    mine[1] = thread;
    mine[2] = thread % 32;
    mine[3] = thread / 32;
}
/* END SOLUTION */

cudaError_t hello(dim3 grid, dim3 block, cudaStream_t stream)
{
    /* SOLUTION: launch hello_kernel with this grid and block on the stream (about 1 line). */
    hello_kernel<<<grid, block, 0, stream>>>();
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t whoami(int *out, dim3 grid, dim3 block, cudaStream_t stream)
{
    /* SOLUTION: launch whoami_kernel with this grid and block on the stream (about 1 line). */
    whoami_kernel<<<grid, block, 0, stream>>>(out);
    /* END SOLUTION */
    return cudaGetLastError();
}
