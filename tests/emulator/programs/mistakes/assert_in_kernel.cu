// prints: device-side assert triggered
// finds: failed assert
#include <stdio.h>
#include <assert.h>
__global__ void check(int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < n);
}
int main()
{
    check<<<2, 32>>>(60);
    puts(cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
