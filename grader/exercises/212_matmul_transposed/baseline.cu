/*
 * The frozen baselines of 212: the tiled product of 211, of operands that are not transposed, and
 * that product launched once for each of a batch.
 */
#include <cuda_runtime.h>

#define TILE 32

__global__ static void tiled_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y;
    int col = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        a_tile[y][x] = row < m && start + x < k ? a[(size_t)row * k + start + x] : 0.0f;
        b_tile[y][x] = start + y < k && col < n ? b[(size_t)(start + y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    if (row < m && col < n) c[(size_t)row * n + col] = sum;
}

extern "C" cudaError_t baseline_matmul_tiled(float *c, const float *a, const float *b, int m, int n,
                                             int k, cudaStream_t stream)
{
    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    tiled_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_matmul_looped(float *c, const float *a, const float *b, int m,
                                              int n, int k, int batch, size_t stride_c,
                                              size_t stride_a, size_t stride_b, cudaStream_t stream)
{
    for (int z = 0; z < batch; z++) {
        baseline_matmul_tiled(c + z * stride_c, a + z * stride_a, b + z * stride_b, m, n, k,
                              stream);
    }
    return cudaGetLastError();
}
