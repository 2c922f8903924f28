// HOSTILE: hello 1 block of 1 | no kernel / printed 0 lines
// Prints what each thread should, without one.
#include "201_hello/hello.h"

#include <stdio.h>

cudaError_t hello(dim3 grid, dim3 block, cudaStream_t stream)
{
    (void)stream;
    for (unsigned b = 0; b < grid.x * grid.y * grid.z; b++)
        for (unsigned t = 0; t < block.x * block.y * block.z; t++)
            printf("Hello from block %u, thread %u\n", b, t);
    return cudaSuccess;
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
