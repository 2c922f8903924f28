// misaligned access
/* A float4 wants an address that is a multiple of 16. */
#include <cuda_runtime.h>

__global__ void sum(float *out, const float *x)
{
    float4 v = *(const float4 *)(x + 4 * threadIdx.x); // HERE
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main()
{
    float *x, *out;
    cudaMalloc(&x, 257 * sizeof *x);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(x, 0, 257 * sizeof *x);
    sum<<<1, 64>>>(out, x + 1);
    return cudaDeviceSynchronize();
}
