// out of bounds: outside its local memory
/* A function fills more of its caller's array than there is. */
#include <device_arrays.h>

__device__ __noinline__ void fill(int *digits, int n)
{
    for (int i = 0; i < n; i++) digits[i] = i; // HERE
}

__global__ void first(int *out, int n)
{
    int digits[8];
    fill(digits, n);
    out[threadIdx.x] = digits[threadIdx.x % 8];
}

int main()
{
    int *out = unwritten<int>(32);
    first<<<1, 32>>>(out, 9);
    return cudaDeviceSynchronize();
}
