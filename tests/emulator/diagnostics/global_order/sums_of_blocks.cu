// nothing
/* Each block adds up for itself, and once to the total. */
#include <cuda_runtime.h>

__global__ void sum(float *total, const float *x)
{
    __shared__ float mine;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    atomicAdd(&mine, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, mine);
}

int main()
{
    float *x, *total;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMalloc(&total, 1 * sizeof *total);
    cudaMemset(x, 0, 2048 * sizeof *x);
    cudaMemset(total, 0, 1 * sizeof *total);
    sum<<<8, 256>>>(total, x);
    return cudaDeviceSynchronize();
}
