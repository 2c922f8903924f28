// out of bounds
/* A view into the second half, with the length of the whole. */
#include <device_arrays.h>

__global__ void clear(short *x, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = 0; // HERE
}

int main()
{
    short *x = filled<short>(256, 0);
    clear<<<1, 64>>>(x + 128, 256);
    return cudaDeviceSynchronize();
}
