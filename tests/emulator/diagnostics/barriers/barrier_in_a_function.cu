// divergent barrier
/* The function has a barrier, and only some threads call it. */
#include <device_arrays.h>

__device__ int neighbour(int *s, int v)
{
    s[threadIdx.x] = v;
    __syncthreads(); // HERE
    return s[threadIdx.x ^ 1];
}

__global__ void swap(int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x, v = x[t];
    if (v == 0 && t % 64 < 48) v = neighbour(s, v);
    x[t] = v + 1;
}

int main()
{
    int *x = filled<int>(64, 0);
    swap<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
