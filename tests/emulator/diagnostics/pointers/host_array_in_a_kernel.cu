// host pointer
/* The weights lie in the host's memory. */
#include <device_arrays.h>

__global__ void scale(float *x, const float *weights)
{
    x[threadIdx.x] *= weights[threadIdx.x]; // HERE
}

int main()
{
    float weights[64] = {1, 2, 3};
    float *x = filled<float>(64, 0);
    scale<<<1, 64>>>(x, weights);
    return cudaDeviceSynchronize();
}
