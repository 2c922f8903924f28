// misaligned access
/* A float4 wants an address that is a multiple of 16. */
#include <device_arrays.h>

__global__ void sum(float *out, const float *x)
{
    float4 v = *(const float4 *)(x + 4 * threadIdx.x); // HERE
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main()
{
    float *x = filled<float>(257, 0), *out = unwritten<float>(64);
    sum<<<1, 64>>>(out, x + 1);
    return cudaDeviceSynchronize();
}
