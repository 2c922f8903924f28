// nothing
/* The loop ends for all at once: they have voted. */
#include <device_arrays.h>

__global__ void relax(int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t] + t;
    while (__syncthreads_or(s[t] > 0)) {
        int left = s[(t + 63) % 64];
        __syncthreads();
        s[t] = min(s[t], left) - 1;
    }
    x[t] = s[t];
}

int main()
{
    int *x = filled<int>(64, 0);
    relax<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
