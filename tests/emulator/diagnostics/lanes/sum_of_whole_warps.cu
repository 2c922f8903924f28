// nothing
/* Lanes above n add 0, and all of them take part; what the upper lanes get stays with them. */
#include <cuda_runtime.h>

__global__ void sum(float *total, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) atomicAdd(total, v);
}

int main()
{
    float *x, *total;
    cudaMalloc(&x, 1000 * sizeof *x);
    cudaMalloc(&total, sizeof *total);
    cudaMemset(x, 0, 1000 * sizeof *x);
    cudaMemset(total, 0, sizeof *total);
    sum<<<4, 256>>>(total, x, 1000);
    return cudaDeviceSynchronize();
}
