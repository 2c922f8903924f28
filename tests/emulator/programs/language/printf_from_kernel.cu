// prints: thread 3 has 2.50
#include <stdio.h>
__global__ void hello(float f)
{
    if (threadIdx.x == 3) printf("thread %d has %.2f\n", threadIdx.x, f);
}
int main()
{
    hello<<<1, 5>>>(2.5f);
    cudaDeviceSynchronize();
    return 0;
}
