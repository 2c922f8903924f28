// out of bounds
/* Every block has a counter, but there are four blocks and three counters. */
#include <device_arrays.h>

__device__ unsigned counters[3];

__global__ void count(const int *x)
{
    if (x[threadIdx.x] == 0) atomicAdd(&counters[blockIdx.x], 1); // HERE
}

int main()
{
    int *x = filled<int>(64, 0);
    count<<<4, 64>>>(x);
    return cudaDeviceSynchronize();
}
