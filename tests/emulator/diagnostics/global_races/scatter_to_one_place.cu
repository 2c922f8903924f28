// race
/* Several elements have the same key, and the last one wins. */
#include <device_arrays.h>

__global__ void scatter(int *to, const int *key)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[key[i] % 64] = i; // HERE
}

int main()
{
    int *key = filled<int>(2048, 0), *to = unwritten<int>(64);
    scatter<<<8, 256>>>(to, key);
    return cudaDeviceSynchronize();
}
