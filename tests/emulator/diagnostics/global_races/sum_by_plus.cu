// race
/* All threads add to one number. */
#include <device_arrays.h>

__global__ void sum(float *total, const float *x)
{
    *total += x[blockIdx.x * blockDim.x + threadIdx.x]; // HERE
}

int main()
{
    float *x = filled<float>(2048, 1), *total = filled<float>(1, 0);
    sum<<<8, 256>>>(total, x);
    return cudaDeviceSynchronize();
}
