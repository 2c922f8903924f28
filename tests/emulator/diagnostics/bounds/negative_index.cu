// nothing
/* A pointer into the middle of an array, and indices on both sides. */
#include <cuda_runtime.h>

__global__ void mirror(float *middle, int n)
{
    int i = threadIdx.x + 1;
    if (i <= n) middle[-i] = middle[i];
}

int main()
{
    float *x;
    cudaMalloc(&x, 101 * sizeof *x);
    cudaMemset(x, 0, 101 * sizeof *x);
    mirror<<<1, 64>>>(x + 50, 50);
    return cudaDeviceSynchronize();
}
