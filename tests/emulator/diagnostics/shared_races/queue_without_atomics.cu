// race
/* Several threads take the same place in the queue. */
#include <device_arrays.h>

__global__ void collect(int *out, const int *x)
{
    __shared__ int queue[64], length;
    int t = threadIdx.x;
    if (t == 0) length = 0;
    __syncthreads();
    if (x[t] > 0) queue[length++] = t; // HERE
    __syncthreads();
    if (t < length) out[t] = queue[t];
}

int main()
{
    int *x = filled<int>(64, 1), *out = unwritten<int>(64);
    collect<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
