// nothing
/* Some lanes have returned: the others read from them, but add only what a lane has given. */
#include <device_arrays.h>

__global__ void sum(unsigned *total, const unsigned *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (i >= n) return;
    unsigned mask = __activemask(), v = x[i];
    for (int d = 16; d > 0; d /= 2) {
        unsigned other = __shfl_down_sync(mask, v, d);
        v += i + d < n && lane + d < 32 ? other : 0;
    }
    unsigned *where = lane == 0 ? total : total + 1;
    unsigned grown = atomicAdd(where, lane == 0 ? v : 0);
    if (lane == 0) atomicMax(total + 2, grown);
}

int main()
{
    unsigned *x = filled<unsigned>(1000, 0), *total = filled<unsigned>(3, 0);
    sum<<<4, 256>>>(total, x, 1000);
    return cudaDeviceSynchronize();
}
