// prints: 1
// finds: stream race
#include <stdio.h>
__global__ void set(int *p, int v)
{
    p[threadIdx.x] = v;
}
__global__ void add(int *p)
{
    p[threadIdx.x] += 1;
}
int main()
{
    cudaStream_t a, b;
    int *d, h;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMalloc(&d, 32 * sizeof(int));
    set<<<1, 32, 0, a>>>(d, 0);
    add<<<1, 32, 0, b>>>(d);
    cudaDeviceSynchronize();
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(d);
    return 0;
}
