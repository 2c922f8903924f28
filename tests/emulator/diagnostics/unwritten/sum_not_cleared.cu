// uninitialised read
/* Nobody sets the sum to zero. */
#include <cuda_runtime.h>

__global__ void sum(int *total, const int *x)
{
    atomicAdd(total, x[threadIdx.x]); // HERE
}

int main()
{
    int *x, *total;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&total, 1 * sizeof *total);
    cudaMemset(x, 0, 64 * sizeof *x);
    sum<<<1, 64>>>(total, x);
    return cudaDeviceSynchronize();
}
