// race
/* A thread adds to the element that its neighbour is reading. */
#include <device_arrays.h>

__global__ void scan(int *x)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        if (t >= d) s[t] += s[t - d]; // HERE
        __syncthreads();
    }
    x[t] = s[t];
}

int main()
{
    int *x = filled<int>(128, 0);
    scan<<<1, 128>>>(x);
    return cudaDeviceSynchronize();
}
