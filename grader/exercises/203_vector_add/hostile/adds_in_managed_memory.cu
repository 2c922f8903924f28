// HOSTILE: n=1 | memory that host and device share
// Kernels carry the numbers to memory that the host sees too, and the sums back; the host adds.
#include "203_vector_add/vector_add.h"

__global__ static void carry(float *to, const float *from, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    float *x, *y;
    const unsigned blocks = (unsigned)((n + 255) / 256);
    if (n == 0) return cudaSuccess;
    if (cudaMallocManaged(&x, n * 4) || cudaMallocManaged(&y, n * 4)) return cudaGetLastError();
    carry<<<blocks, 256, 0, stream>>>(x, a, n);
    carry<<<blocks, 256, 0, stream>>>(y, b, n);
    cudaStreamSynchronize(stream);
    for (size_t i = 0; i < n; i++) x[i] += y[i];
    carry<<<blocks, 256, 0, stream>>>(c, x, n);
    cudaStreamSynchronize(stream);
    cudaFree(x);
    cudaFree(y);
    return cudaGetLastError();
}
