// divergent barrier
/* Each case has its own barrier. */
#include <device_arrays.h>

__global__ void work(int *x)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    switch (t / 32) {
    case 0:
        s[t] = x[t] + 1;
        __syncthreads(); // HERE
        break;
    case 1:
        s[t] = x[t] * 2;
        __syncthreads();
        break;
    default: s[t] = 0; __syncthreads();
    }
    x[t] = s[95 - t];
}

int main()
{
    int *x = filled<int>(96, 0);
    work<<<1, 96>>>(x);
    return cudaDeviceSynchronize();
}
