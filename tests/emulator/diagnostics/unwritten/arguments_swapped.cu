// uninitialised read
/* The call names source and destination the wrong way round. */
#include <device_arrays.h>

__global__ void square(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x] * from[threadIdx.x]; // HERE
}

int main()
{
    int *a = filled<int>(64, 0), *b = unwritten<int>(64);
    square<<<1, 64>>>(a, b);
    return cudaDeviceSynchronize();
}
