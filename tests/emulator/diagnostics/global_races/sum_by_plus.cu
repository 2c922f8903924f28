// race
/* All threads add to one number. */
#include <cuda_runtime.h>

__global__ void sum(float *total, const float *x)
{
    *total += x[blockIdx.x * blockDim.x + threadIdx.x]; // HERE
}

int main()
{
    float *x, *total;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMalloc(&total, 1 * sizeof *total);
    cudaMemset(x, 1, 2048 * sizeof *x);
    cudaMemset(total, 0, 1 * sizeof *total);
    sum<<<8, 256>>>(total, x);
    return cudaDeviceSynchronize();
}
