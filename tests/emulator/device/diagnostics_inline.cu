/* diagnostics_inline.cu: a finding in a function that was inlined names both lines. */
// NEEDS: nvcc, the lines where functions were inlined
#include "check.h"

__device__ __forceinline__ float at(const float *p, int i)
{
    return p[i]; // FINDING inlined: out-of-bounds
}

__global__ void sum_neighbours(float *out, const float *p)
{
    int i = threadIdx.x;
    float left = i ? at(p, i - 1) : 0.0f;
    out[i] = left + at(p, i + 1); // INLINED inlined
}

CASE(inlined)
{
    float *p = to_device(std::vector<float>(32, 1.0f));
    sum_neighbours<<<1, 32>>>(device_array<float>(32), p);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(inlined_inside)
{
    float *p = to_device(std::vector<float>(33, 1.0f));
    sum_neighbours<<<1, 32>>>(device_array<float>(32), p);
    SYNC();
}
