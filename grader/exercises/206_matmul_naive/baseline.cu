/*
 * The frozen baseline of 206: a naive matmul with the two indices the wrong way round.
 *
 * threadIdx.x runs down the rows. The 32 lanes of a warp read 32 rows of a and write 32 rows of c,
 * each access to a line of its own. Block, grid and arithmetic are those of the solution.
 */
#include <cuda_runtime.h>

__global__ static void uncoalesced_kernel(float *c, const float *a, const float *b, int m, int n,
                                          int k)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
    c[(size_t)row * n + col] = sum;
}

extern "C" cudaError_t baseline_matmul_uncoalesced(float *c, const float *a, const float *b, int m,
                                                   int n, int k, cudaStream_t stream)
{
    dim3 block(32, 8);
    dim3 grid((m + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    uncoalesced_kernel<<<grid, block, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
