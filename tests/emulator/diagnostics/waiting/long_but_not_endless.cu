// nothing
/* A loop of many rounds that ends. */
#include <device_arrays.h>

__global__ void collatz(int *steps)
{
    unsigned long long n = threadIdx.x + 1;
    int count = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        count++;
    }
    for (int k = 0; k < 20000; k++) count = (count * 5 + k) % 1000;
    steps[threadIdx.x] = count;
}

int main()
{
    int *steps = unwritten<int>(64);
    collatz<<<1, 64>>>(steps);
    return cudaDeviceSynchronize();
}
