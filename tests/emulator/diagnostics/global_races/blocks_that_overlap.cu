// race
/* The index leaves out the last row of each block, so that blocks overlap. */
#include <cuda_runtime.h>

__global__ void number(int *x)
{
    int i = blockIdx.x * (blockDim.x - 32) + threadIdx.x;
    x[i] = blockIdx.x * 1000 + threadIdx.x; // HERE
}

int main()
{
    int *x;
    cudaMalloc(&x, 2048 * sizeof *x);
    number<<<8, 256>>>(x);
    return cudaDeviceSynchronize();
}
