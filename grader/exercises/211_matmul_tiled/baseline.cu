/*
 * The frozen baseline of 211: the coalesced naive matmul, 32 x 32 threads a block, one element of c
 * each, everything from global memory.
 */
#include <cuda_runtime.h>

__global__ static void naive_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
    c[(size_t)row * n + col] = sum;
}

extern "C" cudaError_t baseline_matmul_naive(float *c, const float *a, const float *b, int m, int n,
                                             int k, cudaStream_t stream)
{
    dim3 block(32, 32);
    dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
    naive_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
