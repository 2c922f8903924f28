// inactive lane
/* A lane waits with a mask that leaves it out. */
#include <cuda_runtime.h>

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
    int *x;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMemset(x, 0, 32 * sizeof *x);
    swap<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
