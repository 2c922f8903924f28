// nothing
/* Whoever finds something writes the same number. */
#include <device_arrays.h>

__global__ void find(int *out, const int *x)
{
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[threadIdx.x] == 0) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = found;
}

int main()
{
    int *x = filled<int>(128, 0), *out = unwritten<int>(1);
    find<<<1, 128>>>(out, x);
    return cudaDeviceSynchronize();
}
