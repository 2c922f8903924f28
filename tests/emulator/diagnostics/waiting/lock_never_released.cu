// endless loop
/* Whoever gets the lock keeps it. */
#include <device_arrays.h>

__global__ void count(int *lock, volatile int *sum)
{
    while (atomicCAS(lock, 0, 1) != 0) continue; // HERE
    *sum = *sum + 1;
}

int main()
{
    int *p = filled<int>(2, 0);
    count<<<8, 256>>>(p, p + 1);
    return cudaDeviceSynchronize() == cudaSuccess;
}
