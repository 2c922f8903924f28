// inactive lane
/* The mask names the lower half, and the upper half calls with it, too. */
#include <device_arrays.h>

__global__ void sum(int *out, const int *x)
{
    int v = x[threadIdx.x];
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0x0000ffff, v, d); // HERE
    out[threadIdx.x] = v;
}

int main()
{
    int *x = filled<int>(32, 0), *out = unwritten<int>(32);
    sum<<<1, 32>>>(out, x);
    return cudaDeviceSynchronize();
}
