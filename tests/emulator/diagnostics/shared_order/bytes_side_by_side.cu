// nothing
/* Threads write bytes of the same word, each its own. */
#include <cuda_runtime.h>

__global__ void classify(unsigned char *out, const int *x)
{
    __shared__ unsigned char kind[64];
    int t = threadIdx.x;
    kind[t] = x[t] > 0 ? 1 : 2;
    __syncthreads();
    out[t] = kind[t ^ 1];
}

int main()
{
    int *x;
    unsigned char *out;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(x, 0, 64 * sizeof *x);
    classify<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
