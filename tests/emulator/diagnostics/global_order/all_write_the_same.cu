// nothing
/* Whoever finds something writes the same number. */
#include <device_arrays.h>

__global__ void find(int *found, const int *x, int wanted)
{
    if (x[blockIdx.x * blockDim.x + threadIdx.x] == wanted) *found = 1;
}

int main()
{
    int *x = filled<int>(8192, 0), *found = filled<int>(1, 0);
    find<<<32, 256>>>(found, x, 0);
    return cudaDeviceSynchronize();
}
