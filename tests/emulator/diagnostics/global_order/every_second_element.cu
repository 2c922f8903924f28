// nothing
/* Blocks write elements that lie between each other. */
#include <cuda_runtime.h>

__global__ void interleave(int *x)
{
    x[threadIdx.x * gridDim.x + blockIdx.x] = blockIdx.x;
    x[threadIdx.x * gridDim.x + blockIdx.x] += threadIdx.x;
}

int main()
{
    int *x;
    cudaMalloc(&x, 2048 * sizeof *x);
    interleave<<<8, 256>>>(x);
    return cudaDeviceSynchronize();
}
