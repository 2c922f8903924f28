/*
 * 401_matmul_vectorized.cu: 214 with loads and stores of four floats at a time.
 *
 * The idea: a load of 16 bytes takes one issue slot, as one of 4 bytes does. A thread of 214 now
 * owns two groups of four neighbouring rows and two of four neighbouring columns, and fetches each
 * group by one load: 4 instructions per step along k instead of 16, for the same 64 multiply-adds.
 * The tiles are loaded, and c is stored, four floats at a time as well.
 *
 * Such an access must begin at a multiple of 16 bytes. A row of a begins there when a does and k is
 * a multiple of 4; b and c likewise with n. Otherwise, and at the edges, the four floats are moved
 * one by one: slower, but right.
 *
 * Addresses have 64 bits, and their arithmetic takes two slots where an int takes one. So each
 * thread computes once where its loads begin, and steps on from there; indices within a tile are
 * int.
 *
 * The cost removed: three quarters of the issue slots that loads took.
 * The cost left: a block loads a tile, waits, computes, waits. While memory answers, only the other
 * block on the same multiprocessor computes (2a).
 */
#include "401_matmul_vectorized/matmul_vectorized.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include <stdint.h>

#define BM      128 /* BM x BN elements of c per block */
#define BN      128
#define BK      8
#define TM      8 /* TM x TN elements of c per thread, in groups of four */
#define TN      8 /* = TM: one loop loads the values of a and of b */
#define THREADS (BM / TM * (BN / TN))

/** Four neighbouring floats of a row. Those beyond its end are 0, and are not loaded.
 *  @param left columns from there to the end of the row, or 0 for a row that does not exist
 *  @param wide rows begin at multiples of 16 bytes */
__device__ __forceinline__ static float4 load_four(const float *at, int left, bool wide)
{
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    /* SOLUTION: fill `four`: by one load of 16 bytes where rows are wide, else by up to four loads
       of 4 bytes (about 5 lines). */
    if (left <= 0) return four;
    if (wide) return *(const float4 *)at;
    four = make_float4(at[0], left > 1 ? at[1] : 0.0f, left > 2 ? at[2] : 0.0f,
                       left > 3 ? at[3] : 0.0f);
    /* END SOLUTION */
    return four;
}

/** The same for a store: from[0 .. 3] to the row, as far as it goes. */
__device__ __forceinline__ static void store_four(float *at, int left, bool wide, const float *from)
{
    /* SOLUTION: one store of 16 bytes where rows are wide, else up to four of 4 bytes. The loop
       over these must unroll, because `from` is in registers (about 9 lines). */
    if (left <= 0) return;
    if (wide) {
        *(float4 *)at = *(const float4 *)from;
    } else {
#pragma unroll /* from is in registers */
        for (int e = 0; e < 4; e++) {
            if (e < left) at[e] = from[e];
        }
    }
    /* END SOLUTION */
}

/** c = a * b. Block i computes tile i of c: the tiles lie row by row, (n - 1) / BN + 1 of them side
 *  by side.
 *  @param wide_a, wide_b, wide_c for each matrix: its rows begin at multiples of 16 bytes */
__global__ static void __launch_bounds__(THREADS, 2)
    matmul_vectorized_kernel(float *c, const float *a, const float *b, int m, int n, int k,
                             bool wide_a, bool wide_b, bool wide_c)
{
    __shared__ __align__(16) float a_tile[BK][BM + 4]; /* [k][row] */
    __shared__ __align__(16) float b_tile[BK][BN];     /* [k][column] */
    /* SOLUTION: as in 214, in steps of BK along k: each thread loads four floats of a and four of b
       and stores them in the tiles; then each step of the tile loads TM values of a and TN of b,
       four at a time, for TM x TN multiply-adds; at the end c is stored four floats at a time. A
       thread's rows and columns are two groups of four neighbours, half a tile apart (about 47
       lines). */
    const int t = threadIdx.x, x = t % (BN / TN) * 4, y = t / (BN / TN) * 4;
    const unsigned across = (n - 1) / BN + 1; /* tiles side by side in c */
    const int row = blockIdx.x / across * BM, col = blockIdx.x % across * BN;
    const int a_row = t / (BK / 4), a_col = t % (BK / 4) * 4; /* the four that t loads */
    const int b_row = t / (BN / 4), b_col = t % (BN / 4) * 4;
    a += ((size_t)row + a_row) * k + a_col; /* 64 bits once; in the loop a and b step along */
    b += (size_t)b_row * n + col + b_col;
    float sum[TM][TN] = {};

    for (int left = k; left > 0; left -= BK) {
        /* Both loads are issued before one is waited for. */
        const float4 of_a = load_four(a, a_row < m - row ? left - a_col : 0, wide_a);
        const float4 of_b = load_four(b, b_row < left ? n - col - b_col : 0, wide_b);
        a += BK;
        b += (size_t)BK * n;
        a_tile[a_col][a_row] = of_a.x; /* the tile of a is transposed */
        a_tile[a_col + 1][a_row] = of_a.y;
        a_tile[a_col + 2][a_row] = of_a.z;
        a_tile[a_col + 3][a_row] = of_a.w;
        *(float4 *)&b_tile[b_row][b_col] = of_b;
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
        const int r = y + i % 4 + i / 4 * (BM / 2); /* of the tile */
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            const int q = x + j / 4 * (BN / 2), left = r < m - row ? n - col - q : 0;
            store_four(c + ((size_t)row + r) * n + col + q, left, wide_c, &sum[i][j]);
        }
    }
    /* END SOLUTION */
}

/** Does each row of x[.. x cols] begin at a multiple of 16 bytes? */
static bool is_wide(const float *x, int cols)
{
    /* SOLUTION: test the address, and the length of a row (1 line). */
    return (uintptr_t)x % sizeof(float4) == 0 && cols % 4 == 0;
    /* END SOLUTION */
}

cudaError_t matmul_vectorized(float *c, const float *a, const float *b, int m, int n, int k,
                              cudaStream_t stream)
{
    /* SOLUTION: nothing if c is empty; else a block of THREADS threads per tile of c, rounding
       up, all of them along x; and which of the three matrices are wide (about 5 lines). */
    if (m == 0 || n == 0) return cudaSuccess; /* an empty grid is a launch error */
    /* All in x: along y a grid ends at 65,535. */
    unsigned grid = ((m - 1) / BM + 1) * ((n - 1) / BN + 1);
    matmul_vectorized_kernel<<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k, is_wide(a, k),
                                                           is_wide(b, n), is_wide(c, n));
    /* END SOLUTION */
    return cudaGetLastError();
}
