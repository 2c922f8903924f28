/*
 * 2a_matmul_warptile.cu: fp32 on all issue slots: tiles for warps, and asynchronous copies.
 *
 * The idea: 214 alternates: a block loads a tile, then computes with it. Here three things go on at
 * once. `cp.async` brings tiles from global to shared memory, two ahead of the one in use, in a
 * ring of three. The values for the next step along k move from shared memory into registers. And
 * the multiply-adds of this step run. One barrier per tile is left, and by then both have arrived.
 *
 * Each warp owns a tile of its own, 64 x 64 elements of c, and each thread 16 x 8 of those: 24
 * values are loaded, 16 bytes at a time, for 128 multiply-adds. Its lanes stand 4 down and 8
 * across. Neighbours share a row, and each lane has the columns of the next but one: where lanes
 * agree like this, shared memory serves half a warp at once instead of a quarter.
 *
 * `cp.async` of 4 bytes takes rows of any address. On the way it transposes the tile of a, and
 * shuffles the columns of b: four neighbours in the tile, one load, are 8 columns apart in c. So
 * neighbouring lanes store neighbouring elements of c, one by one, and the compiler is free to
 * choose a register for each sum. It would not be if four of them went out as one float4.
 *
 * The cost removed: waiting for memory. Of 100 instructions 90 multiply. The cost left: the
 * register file. A multiply-add reads three registers from two banks. The order of the
 * multiply-adds below runs back and forth, so that each shares an operand with the one before.
 */
#include "2a_matmul_warptile/matmul_warptile.h"
#include "not_implemented.h"
#include <stdint.h>

/* SOLUTION: the sizes, a stage of the ring, a copy and a load (about 40 lines). */
#define BM      256 /* BM x BN elements of c per block */
#define BN      128
#define BK      16
#define STAGES  3
#define THREADS 256 /* 8 warps: 4 down, 2 across */
#define TM      16  /* TM x TN elements of c per thread: rows in groups of four, 16 apart, */
#define TN      8   /* columns 8 apart */
#define PARTS   8   /* a stage is copied in parts, between the multiply-adds */
#define ALONG_K 8   /* neighbouring lanes copy so many elements of a row of a */
#define A_STEP  (THREADS / ALONG_K) /* a thread copies rows so far apart, one per part; */
#define B_STEP  (THREADS / BN)      /* BM / A_STEP and BK / B_STEP are PARTS */

typedef struct stage {
    float a[BK][BM + 4]; /* [k][row]: what 8 lanes x 4 rows store is in 32 banks */
    float b[BK][BN];     /* [k][place of the column] */
} stage;

/** To shared memory, or zero. */
__device__ __forceinline__ static void copy(float *to, const float *from, bool inside)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(inside ? 4 : 0)
                 : "memory");
}

/** Where column c of c's tile is in a row of the tile of b. */
__device__ __forceinline__ static int place(int c)
{
    return c / 32 * 32 + c % 8 * 4 + c % 32 / 8;
}

/** What a thread needs of step s: TM values of a, TN of b. */
__device__ __forceinline__ static void take(float a_part[TM], float b_part[TN], const stage *from,
                                            int s, int row, int col)
{
#pragma unroll
    for (int i = 0; i < TM; i += 4)
        *(float4 *)&a_part[i] = *(const float4 *)&from->a[s][row + i * 4];
#pragma unroll
    for (int j = 0; j < TN; j += 4)
        *(float4 *)&b_part[j] = *(const float4 *)&from->b[s][col + j * 8];
}
/* END SOLUTION */

/* SOLUTION: matmul_warptile_kernel: the ring, the values of two steps in registers, and the
   multiply-adds back and forth (about 70 lines). */
__global__ static void __launch_bounds__(THREADS, 1)
    matmul_warptile_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    extern __shared__ __align__(16) char shared[];
    stage *const ring = (stage *)shared;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, across = (n - 1) / BN + 1;
    const int row = blockIdx.x / across * BM, col = blockIdx.x % across * BN;
    /* What the thread sums up: from this row, column and place of the tiles on. */
    const int r0 = warp / 2 * 64 + (lane / 16 * 2 + lane / 2 % 2) * 4;
    const int q0 = warp % 2 * 64 + lane / 4 % 4 * 2 + lane % 2, p0 = place(q0);
    /* What it copies. Instead of a row beyond m or a column beyond n, it copies the last. */
    const int a_row = t / ALONG_K, a_k = t % ALONG_K, b_k = t / BN, b_place = place(t % BN);
    const float *from_a[PARTS], *from_b[PARTS];
#pragma unroll
    for (int i = 0; i < PARTS; i++) {
        from_a[i] = a + (size_t)min(row + a_row + i * A_STEP, m - 1) * k + a_k;
        from_b[i] = b + (size_t)(b_k + i * B_STEP) * n + min(col + t % BN, n - 1);
    }
    int left = k, read = 0, write = 0; /* steps along k that are not yet copied; stages */
    const auto fetch = [&](int i) {
#pragma unroll
        for (int s = 0; s < BK; s += ALONG_K)
            copy(&ring[write].a[a_k + s][a_row + i * A_STEP], from_a[i] + s, a_k + s < left);
        copy(&ring[write].b[b_k + i * B_STEP][b_place], from_b[i], b_k + i * B_STEP < left);
        from_a[i] += BK;
        from_b[i] += (size_t)BK * n;
        if (i < PARTS - 1) return;
        asm volatile("cp.async.commit_group;" ::: "memory"); /* even of a tile beyond k */
        left -= BK;
        write = (write + 1) % STAGES;
    };

    float sum[TM][TN] = {};
    __align__(16) float a_part[2][TM], b_part[2][TN];
    for (int i = 0; i < STAGES - 1; i++) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) fetch(part);
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads(); /* the first stage is complete */
    take(a_part[0], b_part[0], ring, 0, r0, p0);
    for (int start = 0; start < k; start += BK) {
#pragma unroll
        for (int s = 0; s < BK; s++) {
            if (s == BK - 1) {
                read = (read + 1) % STAGES;
                asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
                __syncthreads(); /* the next stage is complete, and this one has been read */
            }
            take(a_part[(s + 1) % 2], b_part[(s + 1) % 2], &ring[read], (s + 1) % BK, r0, p0);
            if (s < PARTS) fetch(s);
#pragma unroll
            for (int i = 0; i < TM; i++) {
#pragma unroll
                for (int step = 0; step < TN; step++) {
                    const int j = i % 2 ? TN - 1 - step : step;
                    sum[i][j] += a_part[s % 2][i] * b_part[s % 2][j];
                }
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory"); /* the block may not end before its copies */
#pragma unroll
    for (int i = 0; i < TM; i++) {
        const int r = row + r0 + i % 4 + i / 4 * 16;
        if (r >= m) continue;
#pragma unroll
        for (int j = 0; j < TN; j++)
            if (col + q0 + j * 8 < n) c[(size_t)r * n + col + q0 + j * 8] = sum[i][j];
    }
}
/* END SOLUTION */

cudaError_t matmul_warptile(float *c, const float *a, const float *b, int m, int n, int k,
                            cudaStream_t stream)
{
    /* SOLUTION: one block per tile of c, with more shared memory than the default (about 7
       lines). */
    if (m == 0 || n == 0) return cudaSuccess; /* an empty grid is a launch error */
    const int bytes = STAGES * (int)sizeof(stage);
    cudaError_t error = cudaFuncSetAttribute(matmul_warptile_kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return error;
    const unsigned grid = (unsigned)((m - 1) / BM + 1) * ((n - 1) / BN + 1);
    matmul_warptile_kernel<<<grid, THREADS, bytes, stream>>>(c, a, b, m, n, k);
    /* END SOLUTION */
    return cudaGetLastError();
}
