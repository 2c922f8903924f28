// race: as read-only
/* A barrier orders the two, but what a kernel writes may not be read through the read-only cache. */
#include <device_arrays.h>

__global__ void by_restrict(float *__restrict__ y, const float *__restrict__ x)
{
    int i = threadIdx.x;
    y[i] = 2 * x[i];
    __syncthreads();
    y[i + 128] = x[127 - i]; // HERE
}

__global__ void by_function(float *y, const float *x)
{
    int i = threadIdx.x;
    y[i] = 2 * x[i];
    __syncthreads();
    y[i + 128] = __ldg(&x[127 - i]); // HERE
}

int main()
{
    float *x = filled<float>(256, 0);
    by_restrict<<<1, 128>>>(x, x);
    by_function<<<1, 128>>>(x, x);
    return cudaDeviceSynchronize();
}
