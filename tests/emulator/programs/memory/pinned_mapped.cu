// prints: 0 62
#include <stdio.h>
__global__ void twice(int *p)
{
    p[threadIdx.x] *= 2;
}
int main()
{
    int *h, *d;
    cudaHostAlloc((void **)&h, 32 * sizeof(int), cudaHostAllocMapped);
    cudaHostGetDevicePointer((void **)&d, h, 0);
    for (int i = 0; i < 32; i++) h[i] = i;
    twice<<<1, 32>>>(d);
    cudaDeviceSynchronize();
    printf("%d %d\n", h[0], h[31]);
    cudaFreeHost(h);
    return 0;
}
