// prints: done
// finds: use after free
#include <stdio.h>
__global__ void set(int *p)
{
    p[threadIdx.x] = 1;
}
int main()
{
    int *p;
    cudaMalloc(&p, 128);
    cudaFree(p);
    set<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    cudaGetLastError();
    puts("done");
    return 0;
}
