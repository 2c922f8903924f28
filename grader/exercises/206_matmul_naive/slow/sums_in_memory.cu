// SLOW: bytes moved, times fewer than the uncoalesced kernel | counted 2.56
// The sum lives in c: every product reads it there and writes it back.
#include "basics.h"

__global__ static void matmul_naive_kernel(float *c, const float *a, const float *b, int m, int n,
                                           int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;

    volatile float *sum = &c[(size_t)row * n + col];
    *sum = 0.0f;
    for (int i = 0; i < k; i++) {
        *sum = *sum + a[(size_t)row * k + i] * b[(size_t)i * n + col];
    }
}

cudaError_t matmul_naive(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess; /* an empty grid is a launch error */
    dim3 block(32, 8);
    dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
    matmul_naive_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
