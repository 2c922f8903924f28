// race
/* A block adds the last element of the one before, which may not be done. */
#include <device_arrays.h>

__global__ void scan(int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int before = blockIdx.x > 0 ? x[blockIdx.x * blockDim.x - 1] : 0; // HERE
    __syncthreads();
    x[i] += before + 1;
}

int main()
{
    int *x = filled<int>(2048, 0);
    scan<<<8, 256>>>(x);
    return cudaDeviceSynchronize();
}
