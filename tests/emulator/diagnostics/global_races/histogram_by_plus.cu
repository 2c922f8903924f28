// race
/* Two threads that count the same value write the same bin. */
#include <cuda_runtime.h>

__global__ void histogram(int *bins, const unsigned char *x)
{
    bins[x[blockIdx.x * blockDim.x + threadIdx.x]]++; // HERE
}

int main()
{
    unsigned char *x;
    int *bins;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMalloc(&bins, 256 * sizeof *bins);
    cudaMemset(x, 5, 2048 * sizeof *x);
    cudaMemset(bins, 0, 256 * sizeof *bins);
    histogram<<<8, 256>>>(bins, x);
    return cudaDeviceSynchronize();
}
