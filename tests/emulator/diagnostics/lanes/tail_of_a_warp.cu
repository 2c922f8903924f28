// inactive lane
/* 40 threads: the second warp has eight lanes, and the sum reads from sixteen. */
#include <device_arrays.h>

__global__ void sum(float *out, const float *x)
{
    float v = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(__activemask(), v, d); // HERE
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}

int main()
{
    float *x = filled<float>(40, 0), *out = unwritten<float>(2);
    sum<<<1, 40>>>(out, x);
    return cudaDeviceSynchronize();
}
