// out of bounds
/* The launch asks for no dynamic shared memory. */
#include <cuda_runtime.h>

__global__ void reverse(int *x)
{
    extern __shared__ int scratch[];
    int t = threadIdx.x;
    scratch[t] = x[t]; // HERE
    __syncthreads();
    x[t] = scratch[63 - t]; // HERE
}

int main()
{
    int *x;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMemset(x, 0, 64 * sizeof *x);
    reverse<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
