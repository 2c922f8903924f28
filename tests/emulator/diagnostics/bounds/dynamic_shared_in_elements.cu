// out of bounds
/* The launch counts elements where bytes are meant. */
#include <device_arrays.h>

__global__ void reverse(double *x)
{
    extern __shared__ double values[];
    int t = threadIdx.x;
    values[t] = x[t]; // HERE
    __syncthreads();
    x[t] = values[127 - t]; // HERE
}

int main()
{
    double *x = filled<double>(128, 0);
    reverse<<<1, 128, 128>>>(x);
    return cudaDeviceSynchronize();
}
