// nothing
/* Blocks write elements that lie between each other. */
#include <device_arrays.h>

__global__ void interleave(int *x)
{
    x[threadIdx.x * gridDim.x + blockIdx.x] = blockIdx.x;
    x[threadIdx.x * gridDim.x + blockIdx.x] += threadIdx.x;
}

int main()
{
    int *x = unwritten<int>(2048);
    interleave<<<8, 256>>>(x);
    return cudaDeviceSynchronize();
}
