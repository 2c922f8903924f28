// endless loop
/* The first thread waits for a flag that another one is to set after the barrier. */
#include <cuda_runtime.h>

__global__ void wait(int *out)
{
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        while (flag == 0) continue; // HERE
    __syncthreads();
    if (threadIdx.x == 32) flag = 1;
    *out = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, sizeof *out);
    wait<<<1, 64>>>(out);
    return cudaDeviceSynchronize() == cudaSuccess;
}
