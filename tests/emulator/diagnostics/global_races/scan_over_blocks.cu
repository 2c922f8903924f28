// race
/* A block adds the last element of the one before, which may not be done. */
#include <cuda_runtime.h>

__global__ void scan(int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int before = blockIdx.x > 0 ? x[blockIdx.x * blockDim.x - 1] : 0; // HERE
    __syncthreads();
    x[i] += before + 1;
}

int main()
{
    int *x;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMemset(x, 0, 2048 * sizeof *x);
    scan<<<8, 256>>>(x);
    return cudaDeviceSynchronize();
}
