// HOSTILE: tensor instructions per 16 × 16 × 16 product | outside of them
// Multiplies as ever, and has the tensor cores multiply zeros as often as is counted.
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include <mma.h>

using namespace nvcuda;
__device__ float sink;

__global__ static void show(int times)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(a, __float2half(0.0f));
    wmma::fill_fragment(b, __float2half(0.0f));
    wmma::fill_fragment(c, 0.0f);
    for (int i = 0; i < times; i++) wmma::mma_sync(c, a, b, c);
    if (c.x[0] != 0) sink = c.x[0];
}

template <class T>
__global__ static void plain(float *c, const T *a, const T *b, int m, int n, int k)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    float sum = 0;
    if (i >= (size_t)m * n) return;
    for (int p = 0; p < k; p++) sum += (float)a[i / n * k + p] * (float)b[(size_t)p * n + i % n];
    c[i] = sum;
}

template <class T>
static cudaError_t multiply(float *c, const T *a, const T *b, int m, int n, int k,
                            cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    plain<<<(unsigned)(((size_t)m * n + 255) / 256), 256, 0, stream>>>(c, a, b, m, n, k);
    show<<<16, 32, 0, stream>>>((int)((size_t)m * n * k / 65536 + 1));
    return cudaGetLastError();
}

cudaError_t matmul_tensorcore(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                              int n, int k, cudaStream_t stream)
{
    return multiply(c, a, b, m, n, k, stream);
}

cudaError_t matmul_tensorcore_half(float *c, const __half *a, const __half *b, int m, int n, int k,
                                   cudaStream_t stream)
{
    return multiply(c, a, b, m, n, k, stream);
}
