// prints: 1.00 yes
#include <stdio.h>
#include <cuda_bf16.h>
__global__ void softmax(__nv_bfloat16 *y, const __nv_bfloat16 *x)
{
    float v = __bfloat162float(x[threadIdx.x]), m = v, s;
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    float e = expf(v - m);
    s = e;
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    y[threadIdx.x] = __float2bfloat16(e / s);
}
int main()
{
    __nv_bfloat16 h[32], *x, *y;
    float sum = 0;
    for (int i = 0; i < 32; i++) h[i] = __float2bfloat16(0.125f * i);
    cudaMalloc(&x, sizeof h);
    cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    softmax<<<1, 32>>>(y, x);
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) sum += __bfloat162float(h[i]);
    printf("%.2f %s\n", sum, __bfloat162float(h[31]) > __bfloat162float(h[0]) ? "yes" : "no");
    cudaFree(x);
    cudaFree(y);
    return 0;
}
