// uninitialised read
/* What one lane reads unwritten, all of them add. */
#include <device_arrays.h>

__global__ void shift(float *to, const float *from)
{
    float first = from[threadIdx.x]; // HERE
    to[threadIdx.x] = 1 + __shfl_sync(0xffffffff, first, 0);
}

int main()
{
    float *a = unwritten<float>(32), *b = unwritten<float>(32);
    shift<<<1, 32>>>(b, a);
    return cudaDeviceSynchronize();
}
