// uninitialised read
/* Nobody sets the sum to zero. */
#include <device_arrays.h>

__global__ void sum(int *total, const int *x)
{
    atomicAdd(total, x[threadIdx.x]); // HERE
}

int main()
{
    int *x = filled<int>(64, 0), *total = unwritten<int>(1);
    sum<<<1, 64>>>(total, x);
    return cudaDeviceSynchronize();
}
