/*
 * 2a_matmul_warptile.cu: fp32 on all issue slots: tiles for warps, and asynchronous copies.
 *
 * The idea: 214 alternates: a block loads a tile, then computes with it. Here three things go on at
 * once. `cp.async` brings tiles from global to shared memory, three ahead of the one in use, in a
 * ring of four. The values for the next step along k move from shared memory into registers. And
 * the multiply-adds of this step run. One barrier per tile is left, and by then both have arrived.
 *
 * Each warp owns a tile of its own, 64 x 64 elements of c, and each thread 16 x 8 of those: 24
 * values are loaded, 16 bytes at a time, for 128 multiply-adds. Its lanes stand 4 down and 8
 * across. Neighbours share a row, and each lane has the column of the next but one: where that is
 * so, shared memory serves half a warp at once instead of a quarter.
 *
 * A thread loads four steps of a row of a at once, so that the tile of a stays as it is in memory
 * and is copied by 16 bytes, too. The registers of a row are free after its last multiply-add, and
 * are loaded again right there.
 *
 * The cost removed: waiting for memory, and instructions that do not multiply: 92 % do. The cost
 * left: the register file. A multiply-add reads three registers from two banks. The order below
 * runs back and forth, so that each shares an operand with the one before.
 */
#include "2a_matmul_warptile/matmul_warptile.h"
#include "not_implemented.h"
#include <stdint.h>

/* SOLUTION: the sizes, and a copy of four floats (about 30 lines). */
#define BM       256 /* BM x BN elements of c per block */
#define BN       128
#define BK       8
#define STAGES   4
#define THREADS  256 /* 8 warps: 4 down, 2 across */
#define TM       16  /* TM x TN elements of c per thread: rows 4 apart, */
#define TN       8   /* columns in groups of four, 32 apart */
#define A_COPIES (BM * BK / 4 / THREADS) /* of four floats, per thread and tile; of b one */
#define A_STEP   (BM / A_COPIES)         /* so many rows apart */

/** Four floats to shared memory, those from `floats` on as zeros. WIDE: 16 bytes at once, where
 *  both addresses are multiples of 16 and so is the end of the row. */
template <bool WIDE>
__device__ __forceinline__ static void copy_four(float *to, const float *from, int floats)
{
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(to);
    if (WIDE) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                     "r"(floats > 0 ? 16 : 0)
                     : "memory");
    } else {
#pragma unroll
        for (int e = 0; e < 4; e++)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared + 4 * e),
                         "l"(from + e), "r"(e < floats ? 4 : 0)
                         : "memory");
    }
}
/* END SOLUTION */

/* SOLUTION: matmul_warptile_kernel: the ring, the values of the next steps in registers, and the
   multiply-adds back and forth (about 80 lines). */
template <bool WIDE>
__global__ static void __launch_bounds__(THREADS, 1)
    matmul_warptile_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ __align__(16) float a_tile[STAGES][BM][BK], b_tile[STAGES][BK][BN];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int across = (n - 1) / BN + 1;
    const int row = blockIdx.x / across * BM, col = blockIdx.x % across * BN;
    /* The thread's first element of c in the tile. */
    const int r0 = warp / 2 * 64 + lane / 16 * 2 + lane / 2 % 2;
    const int q0 = warp % 2 * 64 + (lane / 4 % 4 * 2 + lane % 2) * 4;
    /* What the thread copies. A row beyond m is another one, whose sums are not stored. */
    const int a_row = t / (BK / 4), a_k = t % (BK / 4) * 4, b_k = t / (BN / 4);
    const int b_col = t % (BN / 4) * 4;
    const float *from_a[A_COPIES], *from_b = b + (size_t)b_k * n + col + b_col;
#pragma unroll
    for (int i = 0; i < A_COPIES; i++)
        from_a[i] = a + (size_t)min(row + a_row + i * A_STEP, m - 1) * k + a_k;
    int left = k, write = 0, read = 0; /* steps along k not yet copied; stages */
    const auto fetch = [&] {
#pragma unroll
        for (int i = 0; i < A_COPIES; i++) {
            copy_four<WIDE>(&a_tile[write][a_row + i * A_STEP][a_k], from_a[i], left - a_k);
            from_a[i] += BK;
        }
        copy_four<WIDE>(&b_tile[write][b_k][b_col], from_b, b_k < left ? n - col - b_col : 0);
        from_b += (size_t)BK * n;
        asm volatile("cp.async.commit_group;" ::: "memory"); /* even of a tile beyond k */
        left -= BK;
        write = (write + 1) % STAGES;
    };

    float sum[TM][TN] = {};
    __align__(16) float a_part[TM][4], b_part[2][TN];
    for (int i = 0; i < STAGES - 1; i++) fetch();
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads(); /* the first stage is complete */
#pragma unroll
    for (int i = 0; i < TM; i++) *(float4 *)a_part[i] = *(const float4 *)a_tile[0][r0 + 4 * i];
#pragma unroll
    for (int j = 0; j < TN; j += 4)
        *(float4 *)&b_part[0][j] = *(const float4 *)&b_tile[0][0][q0 + 8 * j];
    for (int start = 0; start < k; start += BK) {
#pragma unroll
        for (int s = 0; s < BK; s++) {
            const int next = (s + 1) % BK;
            if (s == 0) fetch();
            if (next == 0) {
                read = (read + 1) % STAGES;
                asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
                __syncthreads(); /* the next stage is complete, and this one has been read */
            }
#pragma unroll
            for (int j = 0; j < TN; j += 4)
                *(float4 *)&b_part[next % 2][j] = *(const float4 *)&b_tile[read][next][q0 + 8 * j];
#pragma unroll
            for (int i = 0; i < TM; i++) {
#pragma unroll
                for (int step = 0; step < TN; step++) {
                    const int j = i % 2 ? TN - 1 - step : step;
                    sum[i][j] += a_part[i][s % 4] * b_part[s % 2][j];
                }
                if (next % 4 == 0)
                    *(float4 *)a_part[i] = *(const float4 *)&a_tile[read][r0 + 4 * i][next];
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory"); /* the block may not end before its copies */
#pragma unroll
    for (int i = 0; i < TM; i++) {
        const int r = row + r0 + 4 * i;
        if (r >= m) continue;
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            const int q = col + q0 + 8 * j;
            float four[4];
#pragma unroll
            for (int e = 0; e < 4; e++) four[e] = sum[i][j + e] + 0.0f; /* into a free register */
            if (WIDE && q < n) *(float4 *)&c[(size_t)r * n + q] = *(const float4 *)four;
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (!WIDE && q + e < n) c[(size_t)r * n + q + e] = four[e];
        }
    }
}
/* END SOLUTION */

cudaError_t matmul_warptile(float *c, const float *a, const float *b, int m, int n, int k,
                            cudaStream_t stream)
{
    /* SOLUTION: one block per tile of c; 16 bytes at once where all rows are aligned (about 8
       lines). */
    if (m == 0 || n == 0) return cudaSuccess; /* an empty grid is a launch error */
    const unsigned grid = (unsigned)((m - 1) / BM + 1) * ((n - 1) / BN + 1);
    const bool wide = ((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) % 16 == 0 && n % 4 == 0 &&
                      k % 4 == 0;
    const auto kernel = wide ? matmul_warptile_kernel<true> : matmul_warptile_kernel<false>;
    kernel<<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k);
    /* END SOLUTION */
    return cudaGetLastError();
}
