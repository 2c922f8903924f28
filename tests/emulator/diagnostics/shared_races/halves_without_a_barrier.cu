// race
/* Each halving reads what other warps have just added. */
#include <device_arrays.h>

__global__ void sum(float *out, const float *x)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2)
        if (t < d) s[t] += s[t + d]; // HERE
    if (t == 0) *out = s[0];
}

int main()
{
    float host[256];
    for (int i = 0; i < 256; i++) host[i] = i % 7;
    float *x = unwritten<float>(256), *out = unwritten<float>(1);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    sum<<<1, 256>>>(out, x);
    return cudaDeviceSynchronize();
}
