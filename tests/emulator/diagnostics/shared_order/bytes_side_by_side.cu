// nothing
/* Threads write bytes of the same word, each its own. */
#include <device_arrays.h>

__global__ void classify(unsigned char *out, const int *x)
{
    __shared__ unsigned char kind[64];
    int t = threadIdx.x;
    kind[t] = x[t] > 0 ? 1 : 2;
    __syncthreads();
    out[t] = kind[t ^ 1];
}

int main()
{
    int *x = filled<int>(64, 0);
    unsigned char *out = unwritten<unsigned char>(64);
    classify<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
