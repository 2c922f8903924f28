// race
/* atomicAdd_block is atomic among the threads of one block. */
#include <cuda_runtime.h>

__global__ void count(int *total, const int *x)
{
    if (x[blockIdx.x * blockDim.x + threadIdx.x] == 0) atomicAdd_block(total, 1); // HERE
}

int main()
{
    int *x, *total;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMalloc(&total, 1 * sizeof *total);
    cudaMemset(x, 0, 2048 * sizeof *x);
    cudaMemset(total, 0, 1 * sizeof *total);
    count<<<8, 256>>>(total, x);
    return cudaDeviceSynchronize();
}
