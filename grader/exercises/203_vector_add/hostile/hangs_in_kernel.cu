// HOSTILE: n=1 | did not return within / endless / kernel | hangs, on a gpu
// Its kernel waits for twelve seconds of a fast clock before it adds.
#include "203_vector_add/vector_add.h"

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const long long end = clock64() + 24000000000ll;
    while (clock64() < end) continue;
    if (i < n) c[i] = a[i] + b[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((n + 255) / 256);
    if (n) add_kernel<<<blocks, 256, 0, stream>>>(c, a, b, n);
    return cudaGetLastError();
}
