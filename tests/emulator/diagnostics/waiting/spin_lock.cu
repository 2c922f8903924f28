// nothing
/* A lock that all threads of all blocks want, one after the other. */
#include <cuda_runtime.h>

__global__ void count(int *lock, volatile int *sum)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *sum = *sum + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

int main()
{
    int *p, sum = 0;
    cudaMalloc(&p, 2 * sizeof *p);
    cudaMemset(p, 0, 2 * sizeof *p);
    count<<<4, 64>>>(p, p + 1);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    if (cudaMemcpy(&sum, p + 1, sizeof sum, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    return sum != 4 * 64;
}
