// uninitialised read
/* Shared memory holds what the last block left there, not zeros. */
#include <cuda_runtime.h>

__global__ void sum(int *out, const int *x)
{
    __shared__ int total;
    atomicAdd(&total, x[blockIdx.x * blockDim.x + threadIdx.x]); // HERE
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = total;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 256 * sizeof *x);
    cudaMalloc(&out, 4 * sizeof *out);
    cudaMemset(x, 0, 256 * sizeof *x);
    sum<<<4, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
