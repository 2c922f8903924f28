// nothing
/* Two halves of a block work apart, each with a barrier of its own. */
#include <device_arrays.h>

__global__ void reverse(int *x)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    x[t] = s[t < 64 ? 63 - t : 191 - t];
}

int main()
{
    int *x = filled<int>(128, 0);
    reverse<<<1, 128>>>(x);
    return cudaDeviceSynchronize();
}
