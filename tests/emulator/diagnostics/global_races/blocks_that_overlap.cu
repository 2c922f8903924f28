// race
/* The index leaves out the last row of each block, so that blocks overlap. */
#include <device_arrays.h>

__global__ void number(int *x)
{
    int i = blockIdx.x * (blockDim.x - 32) + threadIdx.x;
    x[i] = blockIdx.x * 1000 + threadIdx.x; // HERE
}

int main()
{
    int *x = unwritten<int>(2048);
    number<<<8, 256>>>(x);
    return cudaDeviceSynchronize();
}
