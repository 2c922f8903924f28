// race
/* The first warp fetches what all others are to use. */
#include <device_arrays.h>

__global__ void scale(float *x, const float *factors)
{
    __shared__ float f[32];
    int t = threadIdx.x;
    if (t < 32) f[t] = 1;
    __syncthreads();
    if (t < 32) f[t] = factors[t];
    x[t] *= f[t % 32]; // HERE
}

int main()
{
    float *x = filled<float>(128, 0), *factors = filled<float>(32, 0);
    scale<<<1, 128>>>(x, factors);
    return cudaDeviceSynchronize();
}
