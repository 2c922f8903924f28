// uninitialised read
/* The copy counts elements, so three quarters of the array are missing. */
#include <device_arrays.h>

__global__ void scale(float *y, const float *x)
{
    y[threadIdx.x] = 3 * x[threadIdx.x]; // HERE
}

int main()
{
    float host[64] = {};
    float *x = unwritten<float>(64), *y = unwritten<float>(64);
    cudaMemcpy(x, host, 64, cudaMemcpyHostToDevice);
    scale<<<1, 64>>>(y, x);
    return cudaDeviceSynchronize();
}
