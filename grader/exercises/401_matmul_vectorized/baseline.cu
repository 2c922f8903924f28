/*
 * The frozen baseline of 401: the register tile of 214, 8 x 8 elements of c a thread, each loaded
 * by itself.
 */
#include <cuda_runtime.h>

#define TILE    128 /* TILE x TILE elements of c a block */
#define TILE_K  8
#define PART    8             /* PART x PART elements of c a thread */
#define SIDE    (TILE / PART) /* SIDE x SIDE threads a block */
#define THREADS (SIDE * SIDE)

__global__ static void __launch_bounds__(THREADS)
    matmul_registers_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float a_tile[TILE_K][TILE + 4]; /* [k][row] */
    __shared__ float b_tile[TILE_K][TILE];     /* [k][column] */
    const int t = threadIdx.x, x = t % SIDE, y = t / SIDE;
    const long row = (long)blockIdx.y * TILE, col = (long)blockIdx.x * TILE;
    float sum[PART][PART] = {};

    for (int start = 0; start < k; start += TILE_K) {
        for (int i = t; i < TILE * TILE_K; i += THREADS) { /* along the rows of a, and of b */
            const long a_row = row + i / TILE_K, b_col = col + i % TILE;
            const int a_col = start + i % TILE_K, b_row = start + i / TILE;
            a_tile[i % TILE_K][i / TILE_K] = a_row < m && a_col < k ? a[a_row * k + a_col] : 0.0f;
            b_tile[i / TILE][i % TILE] = b_row < k && b_col < n ? b[(long)b_row * n + b_col] : 0.0f;
        }
        __syncthreads(); /* both tiles are complete before anybody reads them */
        for (int s = 0; s < TILE_K; s++) {
            float a_part[PART], b_part[PART];
            for (int i = 0; i < PART; i++) a_part[i] = a_tile[s][y + i * SIDE];
            for (int j = 0; j < PART; j++) b_part[j] = b_tile[s][x + j * SIDE];
            for (int i = 0; i < PART; i++) {
                for (int j = 0; j < PART; j++) sum[i][j] += a_part[i] * b_part[j];
            }
        }
        __syncthreads(); /* everybody has read before the next tiles overwrite them */
    }
    for (int i = 0; i < PART; i++) {
        for (int j = 0; j < PART; j++) {
            const long r = row + y + i * SIDE, q = col + x + j * SIDE;
            if (r < m && q < n) c[r * n + q] = sum[i][j];
        }
    }
}

extern "C" cudaError_t baseline_matmul_registers(float *c, const float *a, const float *b, int m,
                                                 int n, int k, cudaStream_t stream)
{
    dim3 grid((n - 1) / TILE + 1, (m - 1) / TILE + 1);
    matmul_registers_kernel<<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
