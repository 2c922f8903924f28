/*
 * The frozen baseline of 401: the register tile of 214, 8 x 8 elements of c per thread, each loaded
 * by itself.
 */
#include <cuda_runtime.h>

#define BM      128 /* BM x BN elements of c per block */
#define BN      128
#define BK      8
#define TM      8 /* TM x TN elements of c per thread */
#define TN      8
#define THREADS (BM / TM * (BN / TN))

__global__ static void __launch_bounds__(THREADS)
    matmul_registers_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float a_tile[BK][BM + 4]; /* [k][row] */
    __shared__ float b_tile[BK][BN];     /* [k][column] */
    const int t = threadIdx.x, x = t % (BN / TN), y = t / (BN / TN);
    const long row = (long)blockIdx.y * BM, col = (long)blockIdx.x * BN;
    float sum[TM][TN] = {};

    for (int start = 0; start < k; start += BK) {
        for (int i = t; i < BM * BK; i += THREADS) { /* along the rows of a, and of b */
            const long a_row = row + i / BK, b_col = col + i % BN;
            const int a_col = start + i % BK, b_row = start + i / BN;
            a_tile[i % BK][i / BK] = a_row < m && a_col < k ? a[a_row * k + a_col] : 0.0f;
            b_tile[i / BN][i % BN] = b_row < k && b_col < n ? b[(long)b_row * n + b_col] : 0.0f;
        }
        __syncthreads(); /* both tiles are complete before any thread reads them */
        for (int s = 0; s < BK; s++) {
            float a_part[TM], b_part[TN];
            for (int i = 0; i < TM; i++) a_part[i] = a_tile[s][y + i * (BM / TM)];
            for (int j = 0; j < TN; j++) b_part[j] = b_tile[s][x + j * (BN / TN)];
            for (int i = 0; i < TM; i++) {
                for (int j = 0; j < TN; j++) sum[i][j] += a_part[i] * b_part[j];
            }
        }
        __syncthreads(); /* all threads have read before the next tiles overwrite them */
    }
    for (int i = 0; i < TM; i++) {
        for (int j = 0; j < TN; j++) {
            const long r = row + y + i * (BM / TM), q = col + x + j * (BN / TN);
            if (r < m && q < n) c[r * n + q] = sum[i][j];
        }
    }
}

extern "C" cudaError_t baseline_matmul_registers(float *c, const float *a, const float *b, int m,
                                                 int n, int k, cudaStream_t stream)
{
    dim3 grid((n - 1) / BN + 1, (m - 1) / BM + 1);
    matmul_registers_kernel<<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
