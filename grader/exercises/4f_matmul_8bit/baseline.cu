/*
 * The frozen baseline of 4f: the product of 413, mma.sync with a swizzled ring of three stages. c
 * is not empty, n is even, rows begin at multiples of 16 bytes.
 */
#include <cuda_runtime.h>
#include <stdint.h>

#include "tensor_core.h"

#define THREADS 256 /* 8 warps */
#define TILE    128 /* TILE x TILE elements of c a block */
#define ROW     128 /* terms of a step, and bytes of a row of a tile: 8 chunks of 16 */
#define STAGE   (2 * TILE * ROW)
#define STAGES  3 /* 96 KB: two blocks a multiprocessor where that has 227 KB */
#define DOWN    4 /* products of 16 x 8 that a warp has; there are 2 x 4 warps */
#define ACROSS  4
#define COPIES  (TILE * 8 / THREADS) /* chunks a thread, of either tile */

/** Start to copy the next terms of a tile's rows: chunk c of row r goes to place c ^ (r % 8). A
 *  thread copies one chunk of every 32nd row, so that its place in the swizzle is the same.
 *  @param from its first chunk; rows that are left from its row on, terms from its chunk on */
__device__ __forceinline__ static void copy_rows(uint32_t tile, const int8_t *from, long rows,
                                                 long terms, int k)
{
    const int r = threadIdx.x / 8, chunk = threadIdx.x % 8;
    const uint32_t to = tile + r * ROW + (chunk ^ r % 8) * 16;
#pragma unroll
    for (int i = 0; i < COPIES; i++) {
        const int down = i * (THREADS / 8);
        const bool inside = down < rows && terms > 0;
        cp_async_cg(to + down * ROW, inside ? from + (size_t)down * k : from, inside);
    }
}

/** A warp's sums over the terms of one stage.
 *  @param a, b where this lane's row of the warp's first matrices lies. To move by whole chunks is
 *  to change bits of the chunk's number, which the swizzle leaves to xor. */
__device__ __forceinline__ static void multiply(int sum[DOWN][ACROSS][4], uint32_t a, uint32_t b)
{
#pragma unroll
    for (int step = 0; step < ROW / 32; step++) {
        uint32_t a_part[DOWN][4], b_part[ACROSS / 2][4];
#pragma unroll
        for (int i = 0; i < DOWN; i++) ldmatrix(a_part[i], (a ^ step * 32) + i * 16 * ROW);
#pragma unroll
        for (int j = 0; j < ACROSS / 2; j++) ldmatrix(b_part[j], (b ^ step * 32) + j * 16 * ROW);
#pragma unroll
        for (int i = 0; i < DOWN; i++) {
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                const uint32_t two[2] = {b_part[j / 2][j % 2], b_part[j / 2][j % 2 + 2]};
                mma_s8(sum[i][j], a_part[i], two);
            }
        }
    }
}

__global__ static void __launch_bounds__(THREADS, 2)
    gemm_mma_kernel(int32_t *c, const int8_t *a, const int8_t *b, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = shared_address(shared);
    const long across = (n - 1L) / TILE + 1;
    const long row = blockIdx.x / across * TILE, col = blockIdx.x % across * TILE;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / 4 * DOWN * 16, warp_col = warp % 4 * ACROSS * 8;
    const bool idle = row + warp_row >= m || col + warp_col >= n;
    const uint32_t at = lane % 16 * ROW + (lane / 16 ^ lane % 8) * 16;
    const uint32_t a_at = ring + warp_row * ROW + at, b_at = ring + (TILE + warp_col) * ROW + at;
    const int r = threadIdx.x / 8, first = threadIdx.x % 8 * 16; /* this thread's first chunk */
    const int8_t *a_from = a + (row + r) * k + first, *b_from = b + (col + r) * k + first;
    const int steps = (int)((k + ROW - 1L) / ROW);
    int sum[DOWN][ACROSS][4] = {};

    auto copy_step = [&](int step) {
        if (step < steps) {
            const uint32_t stage = ring + step % STAGES * STAGE;
            const long start = (long)step * ROW;
            copy_rows(stage, a_from + start, m - row - r, k - start - first, k);
            copy_rows(stage + TILE * ROW, b_from + start, n - col - r, k - start - first, k);
        }
        cp_async_commit(); /* an empty group too: what waits counts groups */
    };
    for (int step = 0; step < STAGES - 1; step++) copy_step(step);
    for (int step = 0; step < steps; step++) {
        cp_async_wait<STAGES - 2>();
        __syncthreads(); /* this stage is complete, and nobody reads the one before any more */
        copy_step(step + STAGES - 1);
        const uint32_t stage = step % STAGES * STAGE;
        if (!idle) multiply(sum, a_at + stage, b_at + stage);
    }
#pragma unroll
    for (int i = 0; i < 2 * DOWN; i++) { /* lane l: two sums of row l / 4, two of l / 4 + 8 */
        const long y = row + warp_row + i * 8 + lane / 4;
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            const long x = col + warp_col + j * 8 + lane % 4 * 2;
            const int *two = &sum[i / 2][j][i % 2 * 2];
            if (y >= m || x >= n) continue;
            *(int2 *)&c[y * n + x] = make_int2(two[0], two[1]);
        }
    }
}

extern "C" cudaError_t baseline_gemm_s8(int32_t *c, const int8_t *a, const int8_t *b, int m, int n,
                                        int k, cudaStream_t stream)
{
    const cudaError_t error = cudaFuncSetAttribute(
        gemm_mma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * STAGE);
    if (error != cudaSuccess) return error;
    const unsigned blocks = (unsigned)(((m - 1L) / TILE + 1) * ((n - 1L) / TILE + 1));
    gemm_mma_kernel<<<blocks, THREADS, STAGES * STAGE, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}
