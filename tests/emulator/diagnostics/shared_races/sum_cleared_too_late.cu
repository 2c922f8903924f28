// race: thread 0 wrote at line 8
/* One thread clears the sum of the block, and nobody waits for that. */
#include <cuda_runtime.h>

__global__ void sum(int *out, const int *x)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    atomicAdd(&total, x[threadIdx.x]); // HERE
    __syncthreads();
    if (threadIdx.x == 0) *out = total;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMalloc(&out, sizeof *out);
    cudaMemset(x, 0, 128 * sizeof *x);
    sum<<<1, 128>>>(out, x);
    return cudaDeviceSynchronize();
}
