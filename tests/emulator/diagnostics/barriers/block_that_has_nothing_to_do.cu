// nothing
/* The condition is the same for all threads of a block. */
#include <cuda_runtime.h>

__global__ void reverse(int *x, int blocks)
{
    __shared__ int s[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    if (blockIdx.x < blocks) {
        s[t] = x[first + t];
        __syncthreads();
        x[first + t] = s[63 - t];
    }
}

int main()
{
    int *x;
    cudaMalloc(&x, 192 * sizeof *x);
    cudaMemset(x, 0, 192 * sizeof *x);
    reverse<<<4, 64>>>(x, 3);
    return cudaDeviceSynchronize();
}
