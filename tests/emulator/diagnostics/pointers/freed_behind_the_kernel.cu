// nothing
/* cudaFree waits for the kernel that was launched before. */
#include <cuda_runtime.h>

__global__ void fill(int *x)
{
    x[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *x;
    cudaMalloc(&x, 64 * sizeof *x);
    fill<<<1, 64>>>(x);
    cudaFree(x);
    return cudaDeviceSynchronize();
}
