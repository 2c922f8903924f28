// endless loop
/* Whoever gets the lock keeps it. */
#include <cuda_runtime.h>

__global__ void count(int *lock, volatile int *sum)
{
    while (atomicCAS(lock, 0, 1) != 0) continue; // HERE
    *sum = *sum + 1;
}

int main()
{
    int *p;
    cudaMalloc(&p, 2 * sizeof *p);
    cudaMemset(p, 0, 2 * sizeof *p);
    count<<<8, 256>>>(p, p + 1);
    return cudaDeviceSynchronize() == cudaSuccess;
}
