// prints: 2147483647 8 -128
#include <stdio.h>
__global__ void low(int *best)
{
    atomicMin(best, INT_MAX - (int)threadIdx.x);
}
int main()
{
    int *d, h = INT_MAX;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice);
    low<<<1, 32>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", h + 31, CHAR_BIT, SCHAR_MIN);
    cudaFree(d);
    return 0;
}
