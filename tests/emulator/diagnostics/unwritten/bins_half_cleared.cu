// uninitialised read
/* 64 threads clear one bin each, and there are 128. */
#include <device_arrays.h>

__global__ void histogram(int *out, const unsigned char *x)
{
    __shared__ int bins[128];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[t]], 1); // HERE
    __syncthreads();
    out[t] = bins[t];
}

int main()
{
    unsigned char *x = filled<unsigned char>(64, 100);
    int *out = unwritten<int>(64);
    histogram<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
