// nothing
/* Points have three coordinates and are loaded as four. */
#include <device_arrays.h>

__global__ void place(float *x)
{
    for (int k = 0; k < 3; k++) x[4 * threadIdx.x + k] = k;
}

__global__ void norm(float *out, const float4 *x, bool homogeneous)
{
    float4 v = x[threadIdx.x];
    float w = homogeneous ? v.w : 1;
    out[threadIdx.x] = v.x * v.x + v.y * v.y + v.z * v.z + w * w;
}

int main()
{
    float4 *x = unwritten<float4>(64);
    float *out = unwritten<float>(64);
    place<<<1, 64>>>((float *)x);
    norm<<<1, 64>>>(out, x, false);
    return cudaDeviceSynchronize();
}
