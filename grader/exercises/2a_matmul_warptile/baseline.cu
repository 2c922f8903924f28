/*
 * The frozen baseline of 2a and 4g: the register tile of 401, with loads of 16 bytes. c is not
 * empty.
 */
#include <cuda_runtime.h>
#include <stdint.h>

#define BM      128 /* BM x BN elements of c per block */
#define BN      128
#define BK      8
#define TM      8 /* TM x TN elements of c per thread, in groups of four */
#define TN      8 /* = TM: one loop loads the values of a and of b */
#define THREADS (BM / TM * (BN / TN))

/** @param wide rows begin at multiples of 16 bytes */
__device__ __forceinline__ static float4 load_four(const float *x, long row, long col, int rows,
                                                   int cols, bool wide)
{
    const float *at = x + row * cols + col;
    if (row >= rows || col >= cols) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (wide) return *(const float4 *)at;
    return make_float4(at[0], col + 1 < cols ? at[1] : 0.0f, col + 2 < cols ? at[2] : 0.0f,
                       col + 3 < cols ? at[3] : 0.0f);
}

__device__ __forceinline__ static void store_four(float *x, long row, long col, int rows, int cols,
                                                  bool wide, const float *from)
{
    float *at = x + row * cols + col;
    if (row >= rows || col >= cols) return;
    if (wide) {
        *(float4 *)at = *(const float4 *)from;
    } else {
        for (int e = 0; e < 4 && col + e < cols; e++) at[e] = from[e];
    }
}

__global__ static void __launch_bounds__(THREADS, 2)
    matmul_vectorized_kernel(float *c, const float *a, const float *b, int m, int n, int k,
                             bool wide_a, bool wide_b, bool wide_c)
{
    __shared__ __align__(16) float a_tile[BK][BM + 4]; /* [k][row] */
    __shared__ __align__(16) float b_tile[BK][BN];     /* [k][column] */
    const int t = threadIdx.x, x = t % (BN / TN) * 4, y = t / (BN / TN) * 4;
    const long row = (long)blockIdx.y * BM, col = (long)blockIdx.x * BN;
    const int a_row = t / (BK / 4), a_col = t % (BK / 4) * 4; /* the four that t loads */
    const int b_row = t / (BN / 4), b_col = t % (BN / 4) * 4;
    float sum[TM][TN] = {};

    for (int start = 0; start < k; start += BK) {
        const float4 of_a = load_four(a, row + a_row, start + a_col, m, k, wide_a);
        a_tile[a_col][a_row] = of_a.x; /* the tile of a is transposed */
        a_tile[a_col + 1][a_row] = of_a.y;
        a_tile[a_col + 2][a_row] = of_a.z;
        a_tile[a_col + 3][a_row] = of_a.w;
        *(float4 *)&b_tile[b_row][b_col] = load_four(b, start + b_row, col + b_col, k, n, wide_b);
        __syncthreads(); /* both tiles are complete before any thread reads them */
#pragma unroll
        for (int s = 0; s < BK; s++) {
            __align__(16) float a_part[TM], b_part[TN];
#pragma unroll
            for (int i = 0; i < TM; i += 4) { /* rows y .. y+3 of each half of the tile */
                *(float4 *)&a_part[i] = *(const float4 *)&a_tile[s][y + i / 4 * (BM / 2)];
                *(float4 *)&b_part[i] = *(const float4 *)&b_tile[s][x + i / 4 * (BN / 2)];
            }
#pragma unroll
            for (int i = 0; i < TM; i++) {
#pragma unroll
                for (int j = 0; j < TN; j++) sum[i][j] += a_part[i] * b_part[j];
            }
        }
        __syncthreads(); /* all threads have read before the next tiles overwrite them */
    }
#pragma unroll
    for (int i = 0; i < TM; i++) {
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            store_four(c, row + y + i % 4 + i / 4 * (BM / 2), col + x + j / 4 * (BN / 2), m, n,
                       wide_c, &sum[i][j]);
        }
    }
}

/** Does each row of a matrix begin at a multiple of 16 bytes? */
static bool is_wide(const float *x, int cols)
{
    return (uintptr_t)x % sizeof(float4) == 0 && cols % 4 == 0;
}

extern "C" cudaError_t baseline_matmul_vectorized(float *c, const float *a, const float *b, int m,
                                                  int n, int k, cudaStream_t stream)
{
    dim3 grid((n - 1) / BN + 1, (m - 1) / BM + 1);
    matmul_vectorized_kernel<<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k, is_wide(a, k),
                                                           is_wide(b, n), is_wide(c, n));
    return cudaGetLastError();
}
