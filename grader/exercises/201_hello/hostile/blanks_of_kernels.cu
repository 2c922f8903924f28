// HOSTILE: hello 1 block of 1 | a line is
// Kernels print as many blanks, and the host the lines.
#include "201_hello/hello.h"

#include <stdio.h>

__global__ static void blanks(unsigned count)
{
    while (count-- > 0) printf(" ");
}

cudaError_t hello(dim3 grid, dim3 block, cudaStream_t stream)
{
    const unsigned threads = grid.x * grid.y * grid.z * block.x * block.y * block.z;
    blanks<<<1, 1, 0, stream>>>(threads * 31);
    const cudaError_t error = cudaStreamSynchronize(stream);
    fflush(stdout);
    for (unsigned b = 0; b < grid.x * grid.y * grid.z; b++)
        for (unsigned t = 0; t < block.x * block.y * block.z; t++)
            printf("Hello from block %u, thread %u\n", b, t);
    return error;
}

__global__ static void whoami_kernel(int *out)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int *mine = out + 4 * ((size_t)block * blockDim.x * blockDim.y * blockDim.z + thread);
    mine[0] = block, mine[1] = thread, mine[2] = thread % 32, mine[3] = thread / 32;
}

cudaError_t whoami(int *out, dim3 grid, dim3 block, cudaStream_t stream)
{
    whoami_kernel<<<grid, block, 0, stream>>>(out);
    return cudaGetLastError();
}
