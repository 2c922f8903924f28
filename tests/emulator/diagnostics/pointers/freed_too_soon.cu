// use after free
/* The buffer is freed before the kernel that reads it. */
#include <cuda_runtime.h>

__global__ void copy(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x] + 1; // HERE
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 64 * sizeof *a);
    cudaMalloc(&b, 64 * sizeof *b);
    cudaMemset(a, 0, 64 * sizeof *a);
    cudaFree(a);
    copy<<<1, 64>>>(b, a);
    return cudaDeviceSynchronize();
}
