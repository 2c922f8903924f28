// nothing
/* Each block counts in a counter of its own, so block scope is enough. */
#include <cuda_runtime.h>

__global__ void count(int *counts, const int *x)
{
    if (x[blockIdx.x * blockDim.x + threadIdx.x] == 0) atomicAdd_block(&counts[blockIdx.x], 1);
}

int main()
{
    int *x, *counts;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMalloc(&counts, 8 * sizeof *counts);
    cudaMemset(x, 0, 2048 * sizeof *x);
    cudaMemset(counts, 0, 8 * sizeof *counts);
    count<<<8, 256>>>(counts, x);
    return cudaDeviceSynchronize();
}
