// race
/* A block hands its values on in global memory, and has forgotten the barrier. */
#include <device_arrays.h>

__global__ void reverse(int *x, int *scratch)
{
    int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    scratch[first + t] = x[first + t] + 1;
    x[first + t] = scratch[first + blockDim.x - 1 - t]; // HERE
}

int main()
{
    int *x = filled<int>(2048, 0), *scratch = filled<int>(2048, 0);
    reverse<<<8, 256>>>(x, scratch);
    return cudaDeviceSynchronize();
}
