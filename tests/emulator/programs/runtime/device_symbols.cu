// prints: 5 15
#include <stdio.h>
__device__ int counter = 5;
__device__ int table[4];
__global__ void bump()
{
    atomicAdd(&counter, table[threadIdx.x % 4]);
}
int main()
{
    int h = 0, t[4] = {1, 2, 3, 4}, first;
    cudaMemcpyFromSymbol(&first, counter, sizeof first);
    cudaMemcpyToSymbol(table, t, sizeof t);
    bump<<<1, 4>>>();
    cudaMemcpyFromSymbol(&h, counter, sizeof h);
    printf("%d %d\n", first, h);
    return 0;
}
