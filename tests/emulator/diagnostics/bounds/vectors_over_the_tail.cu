// out of bounds
/* 1001 floats are no multiple of four. */
#include <device_arrays.h>

__global__ void sums(float *out, const float4 *x, int n)
{
    int i = threadIdx.x;
    if (4 * i < n) out[i] = x[i].x + x[i].y + x[i].z + x[i].w; // HERE
}

int main()
{
    float *x = filled<float>(1001, 0), *out = unwritten<float>(256);
    sums<<<1, 256>>>(out, (const float4 *)x, 1001);
    return cudaDeviceSynchronize();
}
