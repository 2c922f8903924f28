// HOSTILE: n=1 | illegal / out of bounds / outside | on a gpu
// Reads all over the memory of the device for the answers of others.
#include "203_vector_add/vector_add.h"

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (size_t at = 0; i == 0 && at < (size_t)1 << 40; at += (size_t)1 << 33) sum += a[at];
    if (i < n) c[i] = sum == 0.5f ? sum : a[i] + b[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((n + 255) / 256);
    if (n) add_kernel<<<blocks, 256, 0, stream>>>(c, a, b, n);
    return cudaGetLastError();
}
