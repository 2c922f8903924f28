// SLOW: bytes moved | counted 1.67
// c becomes a copy of a, and then b is added to it: c travels once more than it must, and a too.
#include "basics.h"

__global__ static void add_to_kernel(float *c, const float *b, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] += b[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    if (c != a) cudaMemcpyAsync(c, a, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    add_to_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(c, b, n);
    return cudaGetLastError();
}
