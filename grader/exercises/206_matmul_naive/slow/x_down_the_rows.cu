// SLOW: sectors a request | counted 16.62
// x runs down the rows: the lanes of a warp read 32 rows of a and write 32 rows of c.
#include "basics.h"

__global__ static void matmul_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    for (int col = blockIdx.y * blockDim.y + threadIdx.y; col < n; col += gridDim.y * blockDim.y) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
        c[(size_t)row * n + col] = sum;
    }
}

cudaError_t matmul_naive(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    dim3 block(32, 8), grid((m + 31) / 32, n < 8 * 65535 ? (n + 7) / 8 : 65535);
    matmul_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
