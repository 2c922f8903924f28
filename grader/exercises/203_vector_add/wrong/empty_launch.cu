// WRONG: n=0 | invalid configuration / invalid argument
#include "basics.h"

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    add_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(c, a, b, n);
    return cudaGetLastError();
}
