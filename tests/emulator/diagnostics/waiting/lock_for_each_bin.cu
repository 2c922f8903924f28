// nothing
/* Many locks, and each thread holds one at a time. */
#include <device_arrays.h>

__global__ void count(int *locks, volatile int *bins, const int *x)
{
    int bin = (x[threadIdx.x] + threadIdx.x) % 4;
    bool done = false;
    while (!done) {
        if (atomicCAS(&locks[bin], 0, 1) == 0) {
            __threadfence();
            bins[bin] = bins[bin] + 1;
            __threadfence();
            atomicExch(&locks[bin], 0);
            done = true;
        }
    }
}

int main()
{
    int *x = filled<int>(64, 0), *locks = filled<int>(4, 0), *bins = filled<int>(4, 0);
    count<<<4, 64>>>(locks, bins, x);
    return cudaDeviceSynchronize();
}
