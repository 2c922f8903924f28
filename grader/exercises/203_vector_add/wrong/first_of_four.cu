// WRONG: n=1000003 | one thread of each group did its work
/* Each thread is to add four elements, and adds one. */
#include "basics.h"

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n)
{
    size_t i = 4 * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) c[i] = a[i] + b[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    add_kernel<<<(unsigned)((n + 1023) / 1024), 256, 0, stream>>>(c, a, b, n);
    return cudaGetLastError();
}
