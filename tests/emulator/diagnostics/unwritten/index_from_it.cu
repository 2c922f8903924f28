// uninitialised read
/* The permutation was never made. */
#include <device_arrays.h>

__global__ void permute(float *to, const float *from, const int *order)
{
    to[order[threadIdx.x]] = from[threadIdx.x]; // HERE
}

int main()
{
    float *a = filled<float>(64, 0), *b = unwritten<float>(64);
    int *order = unwritten<int>(64);
    permute<<<1, 64>>>(b, a, order);
    return cudaDeviceSynchronize();
}
