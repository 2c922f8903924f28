// race
/* Each element is replaced while its neighbours still want the old one. */
#include <device_arrays.h>

__global__ void shift(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) x[i] += x[i - 1]; // HERE
}

int main()
{
    int *x = filled<int>(2048, 1);
    shift<<<8, 256>>>(x, 2048);
    return cudaDeviceSynchronize();
}
