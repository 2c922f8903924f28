// prints: 1 32 1024
#include <stdio.h>

int main()
{
    int count;
    cudaDeviceProp prop;
    cudaGetDeviceCount(&count);
    cudaGetDeviceProperties(&prop, 0);
    printf("%d %d %d\n", count, prop.warpSize, prop.maxThreadsPerBlock);
    return 0;
}
