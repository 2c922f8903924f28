// race
/* One thread clears the counters that other blocks already use. */
#include <cuda_runtime.h>

__global__ void count(int *bins, const int *x)
{
    if (blockIdx.x == 0 && threadIdx.x < 16) bins[threadIdx.x] = 7;
    __syncthreads();
    atomicAdd(&bins[x[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1); // HERE
}

int main()
{
    int *x, *bins;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMalloc(&bins, 16 * sizeof *bins);
    cudaMemset(x, 0, 2048 * sizeof *x);
    cudaMemset(bins, 0, 16 * sizeof *bins);
    count<<<8, 256>>>(bins, x);
    return cudaDeviceSynchronize();
}
