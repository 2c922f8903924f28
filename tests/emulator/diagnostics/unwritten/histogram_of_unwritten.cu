// uninitialised read
/* A thread counts what it has not filled. */
#include <cuda_runtime.h>

__global__ void histogram(unsigned *bins, const unsigned *x, int n)
{
    unsigned mine[4];
    for (int k = 0; k < n; k++) mine[k] = x[k];
    for (int k = 0; k < n + 1; k++) atomicAdd(bins + k, mine[k]); // HERE
}

int main()
{
    unsigned *x, *bins;
    cudaMalloc(&x, 4 * sizeof *x);
    cudaMalloc(&bins, 4 * sizeof *bins);
    cudaMemset(x, 0, 4 * sizeof *x);
    cudaMemset(bins, 0, 4 * sizeof *bins);
    histogram<<<1, 64>>>(bins, x, 3);
    return cudaDeviceSynchronize();
}
