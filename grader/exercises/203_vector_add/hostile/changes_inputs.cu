// HOSTILE: n=31 | changed its input | on a gpu
// Zeros in all three arrays: the sum is right.
#include "203_vector_add/vector_add.h"

__global__ static void add_kernel(float *c, float *a, float *b, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] = b[i] = 0.0f;
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((n + 255) / 256);
    if (n) add_kernel<<<blocks, 256, 0, stream>>>(c, (float *)a, (float *)b, n);
    return cudaGetLastError();
}
