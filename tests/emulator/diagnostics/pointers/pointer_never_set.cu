// null pointer
/* Nobody has allocated the bias. */
#include <device_arrays.h>

__global__ void add_bias(float *x, const float *bias)
{
    x[threadIdx.x] += bias[threadIdx.x]; // HERE
}

int main()
{
    float *bias = nullptr;
    float *x = filled<float>(64, 0);
    add_bias<<<1, 64>>>(x, bias);
    return cudaDeviceSynchronize();
}
