// uninitialised read
/* A thread counts what it has not filled. */
#include <device_arrays.h>

__global__ void histogram(unsigned *bins, const unsigned *x, int n)
{
    unsigned mine[4];
    for (int k = 0; k < n; k++) mine[k] = x[k];
    for (int k = 0; k < n + 1; k++) atomicAdd(bins + k, mine[k]); // HERE
}

int main()
{
    unsigned *x = filled<unsigned>(4, 0), *bins = filled<unsigned>(4, 0);
    histogram<<<1, 64>>>(bins, x, 3);
    return cudaDeviceSynchronize();
}
