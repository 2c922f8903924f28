// nothing
/* Each block waits for the sum of the one before, which is published behind a fence. */
#include <device_arrays.h>

__global__ void scan(volatile int *sums, volatile int *ready, const int *x)
{
    int b = blockIdx.x;
    if (threadIdx.x != 0) return;
    int before = 0;
    if (b > 0) {
        while (ready[b - 1] == 0) continue;
        __threadfence();
        before = sums[b - 1];
    }
    sums[b] = before + x[b];
    __threadfence();
    ready[b] = 1;
}

int main()
{
    int *x = filled<int>(32, 0), *sums = unwritten<int>(32), *ready = filled<int>(32, 0);
    scan<<<32, 32>>>(sums, ready, x);
    return cudaDeviceSynchronize();
}
