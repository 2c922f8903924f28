// deadlock
/* Two halves wait at two barriers, each for the other. */
#include <cuda_runtime.h>

__global__ void work(int *x)
{
    int t = threadIdx.x;
    x[t]++;
    if (t < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // HERE
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    x[t]++;
}

int main()
{
    int *x;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMemset(x, 0, 64 * sizeof *x);
    work<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
