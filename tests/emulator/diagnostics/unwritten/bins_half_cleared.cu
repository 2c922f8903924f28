// uninitialised read
/* 64 threads clear one bin each, and there are 128. */
#include <cuda_runtime.h>

__global__ void histogram(int *out, const unsigned char *x)
{
    __shared__ int bins[128];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[t]], 1); // HERE
    __syncthreads();
    out[t] = bins[t];
}

int main()
{
    unsigned char *x;
    int *out;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(x, 100, 64 * sizeof *x);
    histogram<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
