// nothing
/* cudaFree waits for the kernel that was launched before. */
#include <device_arrays.h>

__global__ void fill(int *x)
{
    x[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *x = unwritten<int>(64);
    fill<<<1, 64>>>(x);
    cudaFree(x);
    return cudaDeviceSynchronize();
}
