// out of bounds
/* A value of 16 has no bin. */
#include <cuda_runtime.h>

__global__ void histogram(int *bins, const unsigned char *x)
{
    __shared__ int mine[16];
    int t = threadIdx.x;
    if (t < 16) mine[t] = 0;
    __syncthreads();
    atomicAdd(&mine[x[t]], 1); // HERE
    __syncthreads();
    if (t < 16) atomicAdd(&bins[t], mine[t]);
}

int main()
{
    int *bins;
    unsigned char *x;
    cudaMalloc(&bins, 16 * sizeof *bins);
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMemset(bins, 0, 16 * sizeof *bins);
    cudaMemset(x, 16, 64 * sizeof *x);
    histogram<<<1, 64>>>(bins, x);
    return cudaDeviceSynchronize();
}
