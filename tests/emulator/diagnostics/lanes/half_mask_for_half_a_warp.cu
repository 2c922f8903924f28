// nothing
/* Each arm names the lanes that are in it. */
#include <device_arrays.h>

__global__ void pick(int *out, const int *x)
{
    int t = threadIdx.x, v = x[t];
    if (t < 16)
        out[t] = __shfl_sync(0x0000ffff, v, 15 - t);
    else
        out[t] = __shfl_sync(0xffff0000, v, 47 - t);
}

int main()
{
    int *x = filled<int>(32, 0), *out = unwritten<int>(32);
    pick<<<1, 32>>>(out, x);
    return cudaDeviceSynchronize();
}
