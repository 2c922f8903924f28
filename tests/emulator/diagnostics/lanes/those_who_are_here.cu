// nothing
/* The lanes that came this way take one ticket together. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void compact(int *to, int *count, const int *x)
{
    int v = x[threadIdx.x] + threadIdx.x;
    if (v % 3 == 0) {
        cg::coalesced_group here = cg::coalesced_threads();
        int first = 0;
        if (here.thread_rank() == 0) first = atomicAdd(count, here.size());
        to[here.shfl(first, 0) + here.thread_rank()] = v;
    }
}

int main()
{
    int *x, *to, *count;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&to, 64 * sizeof *to);
    cudaMalloc(&count, 1 * sizeof *count);
    cudaMemset(x, 0, 64 * sizeof *x);
    cudaMemset(count, 0, 1 * sizeof *count);
    compact<<<1, 64>>>(to, count, x);
    return cudaDeviceSynchronize();
}
