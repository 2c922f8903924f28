// prints: 31
#include <stdio.h>
__global__ void iota(int *p)
{
    p[threadIdx.x] = threadIdx.x;
}
int main()
{
    cudaStream_t s;
    int *p, h[32];
    cudaStreamCreate(&s);
    cudaMallocAsync((void **)&p, sizeof h, s);
    iota<<<1, 32, 0, s>>>(p);
    cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, s);
    cudaFreeAsync(p, s);
    cudaStreamSynchronize(s);
    printf("%d\n", h[31]);
    cudaStreamDestroy(s);
    return 0;
}
