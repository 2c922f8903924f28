// endless loop
/* Powers of two up to the largest number: the next one is 0, and stays so. */
#include <cuda_runtime.h>

__global__ void sum(int *out, const int *x, unsigned n)
{
    int sum = 0;
    for (unsigned k = 1; k <= n; k *= 2) sum += x[k % 61]; // HERE
    *out = sum;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&out, 1 * sizeof *out);
    cudaMemset(x, 0, 64 * sizeof *x);
    sum<<<1, 1>>>(out, x, 0xffffffff);
    return cudaDeviceSynchronize();
}
