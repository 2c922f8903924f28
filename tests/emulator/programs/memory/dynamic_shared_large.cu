// prints: cudaSuccess 16383
#include <stdio.h>
__global__ void reverse(int *d, int n)
{
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = d[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) d[i] = s[n - 1 - i];
}
int main()
{
    const int n = 16384;
    static int h[n];
    int *d;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof h);
    reverse<<<1, 256, sizeof h>>>(d, n);
    cudaError_t e = cudaGetLastError();
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%s %d\n", cudaGetErrorName(e), h[0]);
    cudaFree(d);
    return 0;
}
