// out of bounds
/* Every block has a counter, but there are four blocks and three counters. */
#include <cuda_runtime.h>

__device__ unsigned counters[3];

__global__ void count(const int *x)
{
    if (x[threadIdx.x] == 0) atomicAdd(&counters[blockIdx.x], 1); // HERE
}

int main()
{
    int *x;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMemset(x, 0, 64 * sizeof *x);
    count<<<4, 64>>>(x);
    return cudaDeviceSynchronize();
}
