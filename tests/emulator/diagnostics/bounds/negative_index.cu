// nothing
/* A pointer into the middle of an array, and indices on both sides. */
#include <device_arrays.h>

__global__ void mirror(float *middle, int n)
{
    int i = threadIdx.x + 1;
    if (i <= n) middle[-i] = middle[i];
}

int main()
{
    float *x = filled<float>(101, 0);
    mirror<<<1, 64>>>(x + 50, 50);
    return cudaDeviceSynchronize();
}
