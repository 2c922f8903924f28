// race: with nothing atomic
/* Two threads that count the same value write the same bin. */
#include <device_arrays.h>

__global__ void histogram(int *out, const unsigned char *x)
{
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads();
    bins[x[t]]++; // HERE
    __syncthreads();
    out[t] = bins[t];
}

int main()
{
    unsigned char *x = filled<unsigned char>(256, 7);
    int *out = unwritten<int>(256);
    histogram<<<1, 256>>>(out, x);
    return cudaDeviceSynchronize();
}
