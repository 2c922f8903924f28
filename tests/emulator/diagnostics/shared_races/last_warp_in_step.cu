// missing __syncwarp
/* The last warp relies on its lanes running in step. */
#include <cuda_runtime.h>

__global__ void sum(float *out, const float *x)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t] + x[t + 64];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d > 0; d /= 2) s[t] += s[t + d]; // HERE
        if (t == 0) *out = s[0];
    }
}

int main()
{
    float host[128];
    for (int i = 0; i < 128; i++) host[i] = i % 7;
    float *x, *out;
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMalloc(&out, 1 * sizeof *out);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    sum<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
