// nothing
/* Lanes with the same key work together, one adds for all. */
#include <device_arrays.h>

__global__ void count(int *bins, const int *x)
{
    int key = x[threadIdx.x] + threadIdx.x % 5;
    unsigned same = __match_any_sync(0xffffffff, key);
    if (threadIdx.x == __ffs(same) - 1) atomicAdd(&bins[key], __popc(same));
}

int main()
{
    int *x = filled<int>(32, 0), *bins = filled<int>(8, 0);
    count<<<1, 32>>>(bins, x);
    return cudaDeviceSynchronize();
}
