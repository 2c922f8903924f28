// nothing
/* Points have three coordinates and are moved as four. */
#include <device_arrays.h>

__global__ void place(float *x)
{
    for (int k = 0; k < 3; k++) x[4 * threadIdx.x + k] = k;
}

__global__ void reverse(float4 *to, const float4 *from)
{
    __shared__ float4 tile[64];
    tile[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void sum(float *out, const float4 *x)
{
    float4 v = x[threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z;
}

int main()
{
    float4 *x = unwritten<float4>(64), *y = unwritten<float4>(64);
    float *out = unwritten<float>(64);
    place<<<1, 64>>>((float *)x);
    reverse<<<1, 64>>>(y, x);
    sum<<<1, 64>>>(out, y);
    return cudaDeviceSynchronize();
}
