// race
/* atomicAdd_block is atomic among the threads of one block. */
#include <device_arrays.h>

__global__ void count(int *total, const int *x)
{
    if (x[blockIdx.x * blockDim.x + threadIdx.x] == 0) atomicAdd_block(total, 1); // HERE
}

int main()
{
    int *x = filled<int>(2048, 0), *total = filled<int>(1, 0);
    count<<<8, 256>>>(total, x);
    return cudaDeviceSynchronize();
}
