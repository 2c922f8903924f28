// out of bounds
/* Differences of 512 elements: there are 511 of them. */
#include <cuda_runtime.h>

__global__ void differences(int *d, const int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = x[i + 1] - x[i]; // HERE
}

int main()
{
    int *x, *d;
    cudaMalloc(&x, 512 * sizeof *x);
    cudaMalloc(&d, 512 * sizeof *d);
    cudaMemset(x, 0, 512 * sizeof *x);
    differences<<<2, 256>>>(d, x, 512);
    return cudaDeviceSynchronize();
}
