// out of bounds
/* The element before the first one: 0 - 1 is a large number. */
#include <device_arrays.h>

__global__ void differences(int *x, unsigned n)
{
    for (unsigned k = n; k-- > 0;) x[k] -= x[k - 1]; // HERE
}

int main()
{
    int *x = filled<int>(64, 0);
    differences<<<1, 1>>>(x, 64);
    return cudaDeviceSynchronize();
}
