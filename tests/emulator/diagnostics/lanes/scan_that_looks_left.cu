// nothing
/* A scan: lanes at the left edge get something and do not use it. */
#include <device_arrays.h>

__global__ void scan(int *x)
{
    int t = threadIdx.x, v = x[t];
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, v, d);
        if (t >= d) v += left;
    }
    x[t] = v;
}

int main()
{
    int *x = filled<int>(32, 0);
    scan<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
