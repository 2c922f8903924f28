// out of bounds
/* The constant table has eight entries, the kernel reads nine. */
#include <device_arrays.h>

__constant__ float weights[8];

__global__ void filter(float *to, const float *from, int taps)
{
    float sum = 0;
    for (int k = 0; k <= taps; k++) sum += weights[k] * from[threadIdx.x + k]; // HERE
    to[threadIdx.x] = sum;
}

int main()
{
    float *a = filled<float>(128, 0), *b = unwritten<float>(64);
    filter<<<1, 64>>>(b, a, 8);
    return cudaDeviceSynchronize();
}
