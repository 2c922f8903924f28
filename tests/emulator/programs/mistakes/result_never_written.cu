// prints: done
// finds: uninitialised read
#include <stdio.h>
__global__ void square(float *y, const float *x)
{
    float v = x[threadIdx.x];
    y = &v;
    *y = v * v;
}
int main()
{
    float h[32], *x, *y;
    for (int i = 0; i < 32; i++) h[i] = i;
    cudaMalloc(&x, sizeof h);
    cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    square<<<1, 32>>>(y, x);
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    puts("done");
    cudaFree(x);
    cudaFree(y);
    return 0;
}
