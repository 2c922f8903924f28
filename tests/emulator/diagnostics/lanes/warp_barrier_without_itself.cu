// inactive lane
/* A lane waits with a mask that leaves it out. */
#include <device_arrays.h>

__global__ void swap(int *x)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp(0x7fffffff); // HERE
    if (t < 31) x[t] = s[30 - t];
}

int main()
{
    int *x = filled<int>(32, 0);
    swap<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
