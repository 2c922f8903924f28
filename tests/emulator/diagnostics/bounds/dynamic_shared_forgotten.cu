// out of bounds
/* The launch asks for no dynamic shared memory. */
#include <device_arrays.h>

__global__ void reverse(int *x)
{
    extern __shared__ int scratch[];
    int t = threadIdx.x;
    scratch[t] = x[t]; // HERE
    __syncthreads();
    x[t] = scratch[63 - t]; // HERE
}

int main()
{
    int *x = filled<int>(64, 0);
    reverse<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
