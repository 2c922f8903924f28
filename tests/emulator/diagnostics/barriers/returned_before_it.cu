// nothing
/* Threads that have returned are not waited for. */
#include <device_arrays.h>

__global__ void mirror(int *x, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = x[t];
    __syncthreads();
    x[t] = s[n - 1 - t];
}

int main()
{
    int *x = filled<int>(100, 0);
    mirror<<<1, 128>>>(x, 100);
    return cudaDeviceSynchronize();
}
