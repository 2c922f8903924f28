// out of bounds
/* 1001 floats are no multiple of four. */
#include <cuda_runtime.h>

__global__ void sums(float *out, const float4 *x, int n)
{
    int i = threadIdx.x;
    if (4 * i < n) out[i] = x[i].x + x[i].y + x[i].z + x[i].w; // HERE
}

int main()
{
    float *x, *out;
    cudaMalloc(&x, 1001 * sizeof *x);
    cudaMalloc(&out, 256 * sizeof *out);
    cudaMemset(x, 0, 1001 * sizeof *x);
    sums<<<1, 256>>>(out, (const float4 *)x, 1001);
    return cudaDeviceSynchronize();
}
