// race
/* A block hands its values on in global memory, and has forgotten the barrier. */
#include <cuda_runtime.h>

__global__ void reverse(int *x, int *scratch)
{
    int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    scratch[first + t] = x[first + t] + 1;
    x[first + t] = scratch[first + blockDim.x - 1 - t]; // HERE
}

int main()
{
    int *x, *scratch;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMalloc(&scratch, 2048 * sizeof *scratch);
    cudaMemset(x, 0, 2048 * sizeof *x);
    cudaMemset(scratch, 0, 2048 * sizeof *scratch);
    reverse<<<8, 256>>>(x, scratch);
    return cudaDeviceSynchronize();
}
