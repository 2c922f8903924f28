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
 * across, so that the loads of a warp touch few different words, and each word once.
 *
 * `cp.async` of 4 bytes transposes the tile of a on the way: no register, no store.
 *
 * Matrices that it does not take (rows of b or c that do not begin at multiples of 16 bytes, 2^32
 * elements) go to 214: 32-bit indices leave registers for sums.
 *
 * The cost removed: waiting for memory. The cost left: the register file. A multiply-add reads
 * three registers, and where two come from the same bank, the dispatch waits. The order of the
 * multiply-adds below runs back and forth, so that each shares an operand with the one before.
 */
#include "214_matmul_registers/matmul_registers.h"
#include "2a_matmul_warptile/matmul_warptile.h"
#include "not_implemented.h"
#include <stdint.h>

/* SOLUTION: the sizes, and the two copies (about 45 lines). */
#define BM       256 /* BM x BN elements of c per block */
#define BN       128
#define BK       16
#define STAGES   3
#define THREADS  256 /* 8 warps: 4 down, 2 across */
#define TM       16  /* TM x TN elements of c per thread, in groups of four */
#define TN       8
#define PITCH_A  (BM + 4) /* of the tile of a, [k][row]: a column's stores meet in few banks */
#define STAGE    (BK * (PITCH_A + BN)) /* floats */
#define RING     (STAGES * STAGE * (int)sizeof(float))
#define FETCHES  (BK / 2) /* a stage is fetched in parts, between the multiply-adds */
#define A_COPIES (BM * BK / THREADS / FETCHES)
#define B_COPIES (BN * BK / 4 / THREADS)

/** To shared memory, or zeros. */
__device__ __forceinline__ static void copy_one(float *to, const float *from, bool inside)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(inside ? 4 : 0)
                 : "memory");
}

__device__ __forceinline__ static void copy_four(float *to, const float *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}

/** One of FETCHES parts of the tiles at k = start. The last one closes the group. */
__device__ __forceinline__ static void fetch(float *stage, int part, const float *a, const float *b,
                                             int row, int col, int start, int m, int n, int k)
{
#pragma unroll
    for (int i = part * A_COPIES; i < (part + 1) * A_COPIES; i++) {
        const int at = threadIdx.x + i * THREADS, r = at / BK, s = at % BK;
        const bool inside = row + r < m && start + s < k;
        copy_one(&stage[s * PITCH_A + r], a + ((unsigned)(row + r) * k + start + s), inside);
    }
    if (part < B_COPIES) {
        const int at = threadIdx.x + part * THREADS, s = at / (BN / 4), q = at % (BN / 4) * 4;
        const bool inside = start + s < k && col + q < n;
        copy_four(&stage[BK * PITCH_A + s * BN + q], b + ((unsigned)(start + s) * n + col + q),
                  inside);
    }
    if (part == FETCHES - 1) asm volatile("cp.async.commit_group;" ::: "memory");
}
/* END SOLUTION */

/* SOLUTION: matmul_warptile_kernel: the ring, the values of two steps in registers, and the
   multiply-adds back and forth (about 70 lines). */
/** What a thread needs of step s: TM values of a, TN of b. */
__device__ __forceinline__ static void take(float a_part[TM], float b_part[TN], const float *a_at,
                                            const float *b_at, int s)
{
#pragma unroll
    for (int i = 0; i < TM; i += 4)
        *(float4 *)&a_part[i] = *(const float4 *)&a_at[s * PITCH_A + i * 4];
#pragma unroll
    for (int j = 0; j < TN; j += 4) *(float4 *)&b_part[j] = *(const float4 *)&b_at[s * BN + j * 8];
}

__device__ __forceinline__ static void multiply(float sum[TM][TN], const float a_part[TM],
                                                const float b_part[TN])
{
#pragma unroll
    for (int i = 0; i < TM; i++) {
#pragma unroll
        for (int step = 0; step < TN; step++) {
            const int j = i % 2 ? TN - 1 - step : step;
            sum[i][j] += a_part[i] * b_part[j];
        }
    }
}

__global__ static void __launch_bounds__(THREADS, 1)
    matmul_warptile_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    extern __shared__ __align__(16) float ring[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = blockIdx.y * BM, col = blockIdx.x * BN;
    const int r0 = warp / 2 * 64 + lane / 8 * 4, q0 = warp % 2 * 64 + lane % 8 * 4;
    float sum[TM][TN] = {};
    __align__(16) float a_part[2][TM], b_part[2][TN];

    for (int i = 0; i < STAGES - 1; i++) {
#pragma unroll
        for (int part = 0; part < FETCHES; part++)
            fetch(ring + i * STAGE, part, a, b, row, col, i * BK, m, n, k);
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads(); /* the first stage is complete */
    int read = 0, write = STAGES - 1;
    const float *a_at = ring + r0, *b_at = ring + BK * PITCH_A + q0;
    take(a_part[0], b_part[0], a_at, b_at, 0);
    for (int start = 0; start < k; start += BK) {
#pragma unroll
        for (int s = 0; s < BK; s++) {
            if (s + 1 < BK) {
                take(a_part[(s + 1) % 2], b_part[(s + 1) % 2], a_at, b_at, s + 1);
            } else {
                read = (read + 1) % STAGES;
                a_at = ring + read * STAGE + r0;
                b_at = ring + read * STAGE + BK * PITCH_A + q0;
                asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
                __syncthreads(); /* the next stage is complete, and this one has been read */
                take(a_part[0], b_part[0], a_at, b_at, 0);
            }
            if (s < FETCHES)
                fetch(ring + write * STAGE, s, a, b, row, col, start + (STAGES - 1) * BK, m, n, k);
            multiply(sum, a_part[s % 2], b_part[s % 2]);
        }
        write = (write + 1) % STAGES;
    }
    asm volatile("cp.async.wait_all;" ::: "memory"); /* the block may not end before its copies */
#pragma unroll
    for (int i = 0; i < TM; i++) {
        const int r = row + r0 + i % 4 + i / 4 * 16;
        if (r >= m) continue;
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            const int q = col + q0 + j * 8;
            if (q < n) *(float4 *)&c[(size_t)r * n + q] = *(const float4 *)&sum[i][j];
        }
    }
}
/* END SOLUTION */

cudaError_t matmul_warptile(float *c, const float *a, const float *b, int m, int n, int k,
                            cudaStream_t stream)
{
    /* SOLUTION: without aligned rows call matmul_registers; else one block per tile of c, with more
       shared memory than the default (about 10 lines). */
    if (m == 0 || n == 0) return cudaSuccess; /* an empty grid is a launch error */
    if (((uintptr_t)b | (uintptr_t)c) % 16 != 0 || n % 4 != 0 ||
        (m + (size_t)BM) * k > UINT32_MAX || (k + (size_t)STAGES * BK) * n > UINT32_MAX)
        return matmul_registers(c, a, b, m, n, k, stream);
    cudaError_t error = cudaFuncSetAttribute(matmul_warptile_kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, RING);
    if (error != cudaSuccess) return error;
    dim3 grid((n - 1) / BN + 1, (m - 1) / BM + 1);
    matmul_warptile_kernel<<<grid, THREADS, RING, stream>>>(c, a, b, m, n, k);
    /* END SOLUTION */
    return cudaGetLastError();
}
