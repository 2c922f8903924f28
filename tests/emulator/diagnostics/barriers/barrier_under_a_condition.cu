// divergent barrier
/* Only one half of the block comes to the barrier. */
#include <device_arrays.h>

__global__ void reverse(int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 40) {
        __syncthreads(); // HERE
        s[t] = x[t] + 1;
    }
    x[t] = s[t];
}

int main()
{
    int *x = filled<int>(64, 0);
    reverse<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
