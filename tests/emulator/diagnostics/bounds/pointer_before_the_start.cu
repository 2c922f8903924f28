// nothing
/* An array that counts from one: its pointer lies outside, what it points to does not. */
#include <device_arrays.h>

__global__ void square(int *x, int n)
{
    int *from_one = x - 1;
    int i = threadIdx.x + 1;
    if (i <= n) from_one[i] = i * i;
}

int main()
{
    int *x = unwritten<int>(50);
    square<<<1, 64>>>(x, 50);
    return cudaDeviceSynchronize();
}
