// prints: 2.5 5.25 1
#include <stdio.h>
#include <cuda_fp16.h>
__global__ void axpy(__half *y, const __half *x, __half a)
{
    int i = threadIdx.x;
    y[i] = __hadd(y[i], __hmul(a, x[i]));
}
__global__ void pairs(__half2 *y)
{
    y[threadIdx.x] =
        __hfma2(y[threadIdx.x], __float2half2_rn(2.0f), __floats2half2_rn(0.25f, 1.0f));
}
int main()
{
    __half h[32], *x, *y;
    for (int i = 0; i < 32; i++) h[i] = __float2half(0.5f * (i % 4));
    cudaMalloc(&x, sizeof h);
    cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemcpy(y, h, sizeof h, cudaMemcpyHostToDevice);
    axpy<<<1, 32>>>(y, x, __float2half(4.0f));
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    float before = __half2float(h[1]);
    pairs<<<1, 16>>>((__half2 *)y);
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g %g\n", before, __half2float(h[0]) + 5, __half2float(h[1]) - 5);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
