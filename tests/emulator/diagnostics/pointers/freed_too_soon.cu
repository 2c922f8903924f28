// use after free
/* The buffer is freed before the kernel that reads it. */
#include <device_arrays.h>

__global__ void copy(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x] + 1; // HERE
}

int main()
{
    int *a = filled<int>(64, 0), *b = unwritten<int>(64);
    cudaFree(a);
    copy<<<1, 64>>>(b, a);
    return cudaDeviceSynchronize();
}
