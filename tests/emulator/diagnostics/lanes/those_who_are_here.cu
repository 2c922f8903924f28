// nothing
/* The lanes that came this way take one ticket together. */
#include <cooperative_groups.h>
#include <device_arrays.h>

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
    int *x = filled<int>(64, 0), *to = unwritten<int>(64), *count = filled<int>(1, 0);
    compact<<<1, 64>>>(to, count, x);
    return cudaDeviceSynchronize();
}
