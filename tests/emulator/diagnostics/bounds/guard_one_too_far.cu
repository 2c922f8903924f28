// out of bounds
/* The guard says <= where it must say <. */
#include <device_arrays.h>

__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] *= 2; // HERE
}

int main()
{
    float *x = filled<float>(1000, 0);
    scale<<<4, 256>>>(x, 1000);
    return cudaDeviceSynchronize();
}
