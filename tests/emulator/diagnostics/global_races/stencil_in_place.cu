// race
/* Each element is replaced while its neighbours still want the old one. */
#include <cuda_runtime.h>

__global__ void shift(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) x[i] += x[i - 1]; // HERE
}

int main()
{
    int *x;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMemset(x, 1, 2048 * sizeof *x);
    shift<<<8, 256>>>(x, 2048);
    return cudaDeviceSynchronize();
}
