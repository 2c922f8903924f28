// nothing
/* Each block counts in a counter of its own, so block scope is enough. */
#include <device_arrays.h>

__global__ void count(int *counts, const int *x)
{
    if (x[blockIdx.x * blockDim.x + threadIdx.x] == 0) atomicAdd_block(&counts[blockIdx.x], 1);
}

int main()
{
    int *x = filled<int>(2048, 0), *counts = filled<int>(8, 0);
    count<<<8, 256>>>(counts, x);
    return cudaDeviceSynchronize();
}
