// nothing
/* All threads go round equally often, whatever they do there. */
#include <device_arrays.h>

__global__ void settle(int *x, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int k = 0; k < (n + 63) / 64; k++) {
        int i = k * 64 + t;
        __syncthreads();
        if (i < n) s[t] += i;
        __syncthreads();
    }
    x[t] = s[63 - t];
}

int main()
{
    int *x = filled<int>(64, 0);
    settle<<<1, 64>>>(x, 200);
    return cudaDeviceSynchronize();
}
