// nothing
/* Many locks, and each thread holds one at a time. */
#include <cuda_runtime.h>

__global__ void count(int *locks, volatile int *bins, const int *x)
{
    int bin = (x[threadIdx.x] + threadIdx.x) % 4;
    bool done = false;
    while (!done) {
        if (atomicCAS(&locks[bin], 0, 1) == 0) {
            __threadfence();
            bins[bin] = bins[bin] + 1;
            __threadfence();
            atomicExch(&locks[bin], 0);
            done = true;
        }
    }
}

int main()
{
    int *x, *locks, *bins;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&locks, 4 * sizeof *locks);
    cudaMalloc(&bins, 4 * sizeof *bins);
    cudaMemset(x, 0, 64 * sizeof *x);
    cudaMemset(locks, 0, 4 * sizeof *locks);
    cudaMemset(bins, 0, 4 * sizeof *bins);
    count<<<4, 64>>>(locks, bins, x);
    return cudaDeviceSynchronize();
}
