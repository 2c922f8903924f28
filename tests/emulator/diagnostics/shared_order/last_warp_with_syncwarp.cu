// nothing
/* The last warp goes on alone, with its own barrier. */
#include <device_arrays.h>

__global__ void sum(float *out, const float *x)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t >= 32) return;
    float v = s[t] + s[t + 32];
    for (int d = 16; d > 0; d /= 2) {
        s[t] = v;
        __syncwarp();
        if (t < d) v += s[t + d];
        __syncwarp();
    }
    if (t == 0) *out = v;
}

int main()
{
    float *x = filled<float>(64, 0), *out = unwritten<float>(1);
    sum<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
