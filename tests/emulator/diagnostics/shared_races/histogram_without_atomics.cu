// race: with nothing atomic
/* Two threads that count the same value write the same bin. */
#include <cuda_runtime.h>

__global__ void histogram(int *out, const unsigned char *x)
{
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads();
    bins[x[t]]++; // HERE
    __syncthreads();
    out[t] = bins[t];
}

int main()
{
    unsigned char *x;
    int *out;
    cudaMalloc(&x, 256 * sizeof *x);
    cudaMalloc(&out, 256 * sizeof *out);
    cudaMemset(x, 7, 256 * sizeof *x);
    histogram<<<1, 256>>>(out, x);
    return cudaDeviceSynchronize();
}
