// SLOW: sectors a request | counted 16.00
// Each thread adds four neighbours, so that the lanes of a warp are 16 bytes apart.
#include "basics.h"

#define EACH 4

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n)
{
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * EACH;
    for (size_t i = first; i < first + EACH && i < n; i++) c[i] = a[i] + b[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    unsigned blocks = (unsigned)((n + 256 * EACH - 1) / (256 * EACH));
    add_kernel<<<blocks, 256, 0, stream>>>(c, a, b, n);
    return cudaGetLastError();
}
