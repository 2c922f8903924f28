// prints: 1024 0 1023 512 7 1
#include <stdio.h>
__global__ void work(int *g)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&g[0], 1);
    atomicMin(&g[1], i);
    atomicMax(&g[2], i);
    atomicXor(&g[3], i == 0 ? 512 : 0);
    atomicOr(&g[4], i & 7);
    atomicCAS(&g[5], 0, 1);
}
int main()
{
    int h[6] = {0, 1 << 20, -1, 0, 0, 0}, *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    work<<<8, 128>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d %d\n", h[0], h[1], h[2], h[3], h[4], h[5]);
    cudaFree(d);
    return 0;
}
