// race
/* Two threads that count the same value write the same bin. */
#include <device_arrays.h>

__global__ void histogram(int *bins, const unsigned char *x)
{
    bins[x[blockIdx.x * blockDim.x + threadIdx.x]]++; // HERE
}

int main()
{
    unsigned char *x = filled<unsigned char>(2048, 5);
    int *bins = filled<int>(256, 0);
    histogram<<<8, 256>>>(bins, x);
    return cudaDeviceSynchronize();
}
