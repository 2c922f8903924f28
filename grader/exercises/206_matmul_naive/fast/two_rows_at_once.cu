// FAST: 17x33x65 | should be
/* One load of b for two rows of c; an odd last row is nobody's. */
#include "basics.h"

__global__ static void matmul_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= n) return;
    for (int row = 2 * (blockIdx.y * blockDim.y + threadIdx.y); row + 1 < m;
         row += 2 * gridDim.y * blockDim.y) {
        const float *a0 = a + (size_t)row * k, *a1 = a0 + k;
        float sum0 = 0.0f, sum1 = 0.0f;
        for (int i = 0; i < k; i++) {
            float right = b[(size_t)i * n + col];
            sum0 += a0[i] * right;
            sum1 += a1[i] * right;
        }
        c[(size_t)row * n + col] = sum0;
        c[(size_t)(row + 1) * n + col] = sum1;
    }
}

cudaError_t matmul_naive(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    dim3 block(32, 8), grid((n + 31) / 32, m < 16 * 65535 ? (m + 15) / 16 : 65535);
    matmul_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
