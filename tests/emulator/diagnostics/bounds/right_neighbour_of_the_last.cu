// out of bounds
/* Differences of 512 elements: there are 511 of them. */
#include <device_arrays.h>

__global__ void differences(int *d, const int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = x[i + 1] - x[i]; // HERE
}

int main()
{
    int *x = filled<int>(512, 0), *d = unwritten<int>(512);
    differences<<<2, 256>>>(d, x, 512);
    return cudaDeviceSynchronize();
}
