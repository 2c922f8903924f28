// out of bounds
/* A value of 16 has no bin. */
#include <device_arrays.h>

__global__ void histogram(int *bins, const unsigned char *x)
{
    __shared__ int mine[16];
    int t = threadIdx.x;
    if (t < 16) mine[t] = 0;
    __syncthreads();
    atomicAdd(&mine[x[t]], 1); // HERE
    __syncthreads();
    if (t < 16) atomicAdd(&bins[t], mine[t]);
}

int main()
{
    int *bins = filled<int>(16, 0);
    unsigned char *x = filled<unsigned char>(64, 16);
    histogram<<<1, 64>>>(bins, x);
    return cudaDeviceSynchronize();
}
