// WRONG: n=33 | does not cover the tail: if (i < n) / wrote outside
#include "basics.h"

__global__ static void add_kernel(float *c, const float *a, const float *b)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    add_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(c, a, b);
    return cudaGetLastError();
}
