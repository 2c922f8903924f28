// RIGHT: dynamic shared memory, 16 x 16, two pairs of tiles in turn: one barrier a tile is enough
#include "211_matmul_tiled/matmul_tiled.h"

#define SIDE 16

__global__ static void tiled_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    extern __shared__ float tiles[]; /* [2][2][SIDE][SIDE]: turn, a or b */
    int x = threadIdx.x, y = threadIdx.y, place = y * SIDE + x;
    int row = blockIdx.y * SIDE + y, col = blockIdx.x * SIDE + x;
    float sum = 0.0f;

    for (int start = 0, turn = 0; start < k; start += SIDE, turn ^= 1) {
        float *a_tile = tiles + turn * 2 * SIDE * SIDE, *b_tile = a_tile + SIDE * SIDE;
        float from_a = 0.0f, from_b = 0.0f;
        if (row < m && start + x < k) from_a = a[(size_t)row * k + start + x];
        if (start + y < k && col < n) from_b = b[(size_t)(start + y) * n + col];
        a_tile[place] = from_a;
        b_tile[place] = from_b;
        /* Who passes here has read the tiles of the turn before; the next turn writes the others.
         */
        __syncthreads();
        for (int i = 0; i < SIDE; i++) sum += a_tile[y * SIDE + i] * b_tile[i * SIDE + x];
    }
    if (row < m && col < n) c[(size_t)row * n + col] = sum;
}

cudaError_t matmul_tiled(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    dim3 grid((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE);
    size_t shared = 4 * SIDE * SIDE * sizeof(float);
    tiled_kernel<<<grid, dim3(SIDE, SIDE), shared, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
