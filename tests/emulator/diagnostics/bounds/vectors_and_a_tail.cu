// nothing
/* Four at a time as far as that goes, then one by one. */
#include <device_arrays.h>

__global__ void scale(float *x, int n)
{
    int i = 4 * threadIdx.x;
    if (i + 3 < n) {
        float4 v = *(float4 *)(x + i);
        *(float4 *)(x + i) = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    } else {
        for (; i < n; i++) x[i] *= 2;
    }
}

int main()
{
    float *x = filled<float>(1001, 0);
    scale<<<1, 256>>>(x, 1001);
    return cudaDeviceSynchronize();
}
