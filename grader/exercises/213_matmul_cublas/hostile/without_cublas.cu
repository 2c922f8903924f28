// HOSTILE: build | __cudaRegisterFunction
// Multiplies by a kernel of its own, where cuBLAS was to be called.
#include "213_matmul_cublas/matmul_cublas.h"
#include <stdlib.h>

struct cublas_ctx {
    int none;
};

__global__ static void plain(float *c, const float *a, const float *b, int m, int n, int k)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    float sum = 0;
    if (i >= (size_t)m * n) return;
    for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[(size_t)p * n + i % n];
    c[i] = sum;
}

cudaError_t cublas_create(cublas_ctx **c)
{
    return *c = (cublas_ctx *)calloc(1, sizeof **c), cudaSuccess;
}
cudaError_t cublas_destroy(cublas_ctx *c)
{
    return free(c), cudaSuccess;
}

cudaError_t matmul_cublas(cublas_ctx *x, float *c, const float *a, const float *b, int m, int n,
                          int k, cudaStream_t stream)
{
    if (!x) return cudaErrorInvalidValue;
    if (m && n)
        plain<<<(unsigned)(((size_t)m * n + 255) / 256), 256, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
