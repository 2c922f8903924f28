// nothing
/* The condition is the same for all threads of a block. */
#include <device_arrays.h>

__global__ void reverse(int *x, int blocks)
{
    __shared__ int s[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    if (blockIdx.x < blocks) {
        s[t] = x[first + t];
        __syncthreads();
        x[first + t] = s[63 - t];
    }
}

int main()
{
    int *x = filled<int>(192, 0);
    reverse<<<4, 64>>>(x, 3);
    return cudaDeviceSynchronize();
}
