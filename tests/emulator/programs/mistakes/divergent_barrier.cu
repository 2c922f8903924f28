// prints: done
// finds: divergent barrier
#include <stdio.h>
__global__ void odd(int *p)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 40) __syncthreads();
    p[threadIdx.x] = s[63 - threadIdx.x];
}
int main()
{
    int *p;
    cudaMalloc(&p, 256);
    odd<<<1, 64>>>(p);
    cudaDeviceSynchronize();
    cudaGetLastError();
    puts("done");
    cudaFree(p);
    return 0;
}
