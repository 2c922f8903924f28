// endless loop
/* Powers of two up to the largest number: the next one is 0, and stays so. */
#include <device_arrays.h>

__global__ void sum(int *out, const int *x, unsigned n)
{
    int sum = 0;
    for (unsigned k = 1; k <= n; k *= 2) sum += x[k % 61]; // HERE
    *out = sum;
}

int main()
{
    int *x = filled<int>(64, 0), *out = unwritten<int>(1);
    sum<<<1, 1>>>(out, x, 0xffffffff);
    return cudaDeviceSynchronize();
}
