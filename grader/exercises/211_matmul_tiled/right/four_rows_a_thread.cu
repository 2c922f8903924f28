// RIGHT: 32 x 8 threads, each with four rows of c in registers; b tile of 32 x 32, one barrier pair
// a tile
#include "211_matmul_tiled/matmul_tiled.h"

#define SIDE 32
#define ROWS 4 /* of c, per thread */

__global__ static void tiled_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float a_tile[SIDE][SIDE + 1], b_tile[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int top = blockIdx.y * SIDE, col = blockIdx.x * SIDE + x;
    float sum[ROWS] = {0.0f, 0.0f, 0.0f, 0.0f};

    for (int start = 0; start < k; start += SIDE) {
        for (int r = y; r < SIDE; r += SIDE / ROWS) {
            bool in_a = top + r < m && start + x < k, in_b = start + r < k && col < n;
            a_tile[r][x] = in_a ? a[(size_t)(top + r) * k + start + x] : 0.0f;
            b_tile[r][x] = in_b ? b[(size_t)(start + r) * n + col] : 0.0f;
        }
        __syncthreads();
        int depth = k - start < SIDE ? k - start : SIDE;
        for (int i = 0; i < depth; i++) {
            float v = b_tile[i][x];
            for (int u = 0; u < ROWS; u++) sum[u] += a_tile[y * ROWS + u][i] * v;
        }
        __syncthreads();
    }
    for (int u = 0; u < ROWS; u++) {
        int row = top + y * ROWS + u;
        if (row < m && col < n) c[(size_t)row * n + col] = sum[u];
    }
}

cudaError_t matmul_tiled(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    dim3 grid((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE);
    tiled_kernel<<<grid, dim3(SIDE, SIDE / ROWS), 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
