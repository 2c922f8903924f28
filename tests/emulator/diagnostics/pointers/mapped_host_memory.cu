// nothing
/* The kernel reads and writes memory of the host, which was allocated for that. */
#include <cuda_runtime.h>

__global__ void square(int *x)
{
    x[threadIdx.x] *= x[threadIdx.x];
}

int main()
{
    int *x;
    cudaMallocHost(&x, 64 * sizeof *x);
    for (int i = 0; i < 64; i++) x[i] = i;
    square<<<1, 64>>>(x);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    return x[8] != 64;
}
