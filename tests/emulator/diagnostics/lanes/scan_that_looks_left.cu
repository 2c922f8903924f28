// nothing
/* A scan: lanes at the left edge get something and do not use it. */
#include <cuda_runtime.h>

__global__ void scan(int *x)
{
    int t = threadIdx.x, v = x[t];
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, v, d);
        if (t >= d) v += left;
    }
    x[t] = v;
}

int main()
{
    int *x;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMemset(x, 0, 32 * sizeof *x);
    scan<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
