// prints: -2 -62
#include <stdio.h>
__global__ void negate(float *x)
{
    float v[2];
    *reinterpret_cast<uint2 *>(v) = reinterpret_cast<const uint2 *>(x)[threadIdx.x];
    for (int k = 0; k < 2; k++) {
        *(unsigned *)&v[k] |= 0x80000000u;
        v[k] = v[k] * 2;
    }
    reinterpret_cast<uint2 *>(x)[threadIdx.x] = *reinterpret_cast<uint2 *>(v);
}
int main()
{
    float h[64], *x;
    for (int i = 0; i < 64; i++) h[i] = i;
    cudaMalloc(&x, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    negate<<<1, 32>>>(x);
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g\n", h[1], h[31]);
    cudaFree(x);
    return 0;
}
