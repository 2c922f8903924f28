// nothing
/* Two halves of a warp add up each for itself. */
#include <device_arrays.h>

__global__ void sum(int *out, const int *x)
{
    int t = threadIdx.x, v = x[t];
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d, 16);
    if (t % 16 == 0) out[t / 16] = v;
}

int main()
{
    int *x = filled<int>(64, 0), *out = unwritten<int>(4);
    sum<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
