// HOSTILE: 17x33x65 | should be | on a gpu
// Cuts the factors to the 10 bits that tensor cores take, which are much faster.
#include "206_matmul_naive/matmul_naive.h"

__device__ static float cut(float x)
{
    return __int_as_float(__float_as_int(x) & ~0x1fff);
}

__global__ static void matmul_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= m) return;
    float sum = 0.0f;
    for (int p = 0; p < k; p++) sum += cut(a[(size_t)y * k + p]) * cut(b[(size_t)p * n + x]);
    c[(size_t)y * n + x] = sum;
}

cudaError_t matmul_naive(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    const dim3 grid((n + 31) / 32, (m + 7) / 8), block(32, 8);
    matmul_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
