// nothing
/* Each block waits for the sum of the one before, which is published behind a fence. */
#include <cuda_runtime.h>

__global__ void scan(volatile int *sums, volatile int *ready, const int *x)
{
    int b = blockIdx.x;
    if (threadIdx.x != 0) return;
    int before = 0;
    if (b > 0) {
        while (ready[b - 1] == 0) continue;
        __threadfence();
        before = sums[b - 1];
    }
    sums[b] = before + x[b];
    __threadfence();
    ready[b] = 1;
}

int main()
{
    int *x, *sums, *ready;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMalloc(&sums, 32 * sizeof *sums);
    cudaMalloc(&ready, 32 * sizeof *ready);
    cudaMemset(x, 0, 32 * sizeof *x);
    cudaMemset(ready, 0, 32 * sizeof *ready);
    scan<<<32, 32>>>(sums, ready, x);
    return cudaDeviceSynchronize();
}
