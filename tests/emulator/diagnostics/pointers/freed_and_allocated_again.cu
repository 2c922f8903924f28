// nothing
/* The new buffer lies where the freed one lay. */
#include <cuda_runtime.h>

__global__ void fill(int *x)
{
    x[threadIdx.x] = threadIdx.x;
}

int main()
{
    for (int round = 0; round < 3; round++) {
        int *x;
        cudaMalloc(&x, 64 * sizeof *x);
        fill<<<1, 64>>>(x);
        cudaFree(x);
    }
    return cudaDeviceSynchronize();
}
