// deadlock
/* Two halves wait at two barriers, each for the other. */
#include <device_arrays.h>

__global__ void work(int *x)
{
    int t = threadIdx.x;
    x[t]++;
    if (t < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // HERE
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    x[t]++;
}

int main()
{
    int *x = filled<int>(64, 0);
    work<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
