// out of bounds
/* The guard says <= where it must say <. */
#include <cuda_runtime.h>

__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] *= 2; // HERE
}

int main()
{
    float *x;
    cudaMalloc(&x, 1000 * sizeof *x);
    cudaMemset(x, 0, 1000 * sizeof *x);
    scale<<<4, 256>>>(x, 1000);
    return cudaDeviceSynchronize();
}
