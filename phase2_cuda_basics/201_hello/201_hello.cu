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

/* TODO: linear_block and linear_thread, two device functions: ids counted with x fastest, then
   y, then z (about 2 lines). */

/* TODO: hello_kernel: one printf. whoami_kernel: find this thread's place in out, write four
   ints (about 8 lines). */

cudaError_t hello(dim3 grid, dim3 block, cudaStream_t stream)
{
    /* TODO: launch hello_kernel with this grid and block on the stream (about 1 line). */
    NOT_IMPLEMENTED(grid, block, stream);
    return cudaGetLastError();
}

cudaError_t whoami(int *out, dim3 grid, dim3 block, cudaStream_t stream)
{
    /* TODO: launch whoami_kernel with this grid and block on the stream (about 1 line). */
    NOT_IMPLEMENTED(out, grid, block, stream);
    return cudaGetLastError();
}
