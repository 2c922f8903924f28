// nothing
/* Lanes with the same key work together, one adds for all. */
#include <cuda_runtime.h>

__global__ void count(int *bins, const int *x)
{
    int key = x[threadIdx.x] + threadIdx.x % 5;
    unsigned same = __match_any_sync(0xffffffff, key);
    if (threadIdx.x == __ffs(same) - 1) atomicAdd(&bins[key], __popc(same));
}

int main()
{
    int *x, *bins;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMalloc(&bins, 8 * sizeof *bins);
    cudaMemset(x, 0, 32 * sizeof *x);
    cudaMemset(bins, 0, 8 * sizeof *bins);
    count<<<1, 32>>>(bins, x);
    return cudaDeviceSynchronize();
}
