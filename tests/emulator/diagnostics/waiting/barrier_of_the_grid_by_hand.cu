// endless loop
/* All blocks wait for the last one, which has no room before one of them ends. */
#include <cuda_runtime.h>

__global__ void steps(int *arrived, int *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x]++;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) continue; // HERE
    }
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x]++;
}

int main()
{
    int *x, *arrived;
    cudaMalloc(&x, 16384 * sizeof *x);
    cudaMalloc(&arrived, 1 * sizeof *arrived);
    cudaMemset(x, 0, 16384 * sizeof *x);
    cudaMemset(arrived, 0, 1 * sizeof *arrived);
    steps<<<256, 64>>>(arrived, x);
    return cudaDeviceSynchronize();
}
