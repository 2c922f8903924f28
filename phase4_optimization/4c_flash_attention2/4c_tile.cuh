/*
 * 4c_tile.cuh: tiles of bf16 in shared memory, their products on tensor cores, and the way out.
 *
 * It is written once. 4c includes it, and so does 4d. A block has TILE_THREADS threads, four warps;
 * the barriers are the caller's.
 *
 * A tile has rows of DIM elements, 64 or 128, and begins at a multiple of 256 bytes. 8 elements, 16
 * bytes, are a chunk. Chunk c of row r stands at place c ^ (r % 8), the swizzle of 4a. The
 * instructions for copies, fragments and products are those of common/tensor_core.h.
 *
 * Sums and weights are in registers, as `mma` leaves them. A warp has DOWN x ACROSS products of
 * 16 x 8. Of product [i][j], lane l has in row 16 i + l / 4 the columns 8 j + 2 (l % 4) and the
 * next, as [0] and [1]; and the same columns 8 rows further down, as [2] and [3].
 */
#ifndef ATTENTION_TILE_CUH
#define ATTENTION_TILE_CUH

#include "tensor_core.h"
#include <cuda_bf16.h>
#include <stddef.h>
#include <stdint.h>

#define TILE_THREADS 128

typedef __nv_bfloat16 bf16;

/** Wait for the copies of this thread; those of others take a barrier. */
__device__ __forceinline__ static void copies_done(void)
{
    cp_async_wait_all();
}

/** 2^x by the unit that has it; 0 for -infinity. */
__device__ __forceinline__ static float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/** Where a chunk of a tile stands. */
template <int DIM>
__device__ __forceinline__ static const bf16 *place(const bf16 (*tile)[DIM], int row, int chunk)
{
    return &tile[row][(chunk ^ row % 8) * 8];
}

/** The same as an address, for ldmatrix. To move by whole chunks is to change bits of the chunk's
 *  number, which the swizzle leaves to xor; 8 rows further down row % 8 is the same. */
template <int DIM>
__device__ __forceinline__ static uint32_t address(const bf16 (*tile)[DIM], int row, int chunk)
{
    return shared_address(place(tile, row, chunk));
}

__device__ __forceinline__ static void copy_elements(bf16 *to, const bf16 *from, bool inside)
{
    for (int i = 0; i < 8; i++) to[i] = inside ? from[i] : bf16(0.0f);
}

/**
 * tile = rows `row`, `row` + 1, ... of x[rows x DIM]; zeros for rows that x has not. The copies are
 * under way when it returns; copies_done waits for those of this thread.
 * @param wide x begins at a multiple of 16 bytes; else elements are copied one by one
 * A thread's chunks are 8 or 16 rows apart: their places in the swizzle are the same.
 */
template <int ROWS, int DIM>
__device__ __forceinline__ static void copy_tile(bf16 (&tile)[ROWS][DIM], const bf16 *x, int row,
                                                 int rows, bool wide)
{
    enum { CHUNKS = DIM / 8, STEP = TILE_THREADS / CHUNKS };
    const int r = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
    const bf16 *from = x + (size_t)(row + r) * DIM + chunk * 8;
    bf16 *to = (bf16 *)place(tile, r, chunk);
#pragma unroll
    for (int i = 0; i < ROWS && wide; i += STEP)
        cp_async_cg(shared_address(to + i * DIM), from + i * DIM, row + r + i < rows);
#pragma unroll 1
    for (int i = 0; i < ROWS && !wide; i += STEP)
        copy_elements(to + i * DIM, from + i * DIM, row + r + i < rows);
}

/** sum += a b^T, of 16 * DOWN rows a and 8 * ACROSS rows b, both from a row of a tile on that is a
 *  multiple of 8. */
template <int DOWN, int ACROSS, int DIM>
__device__ __forceinline__ static void multiply_rows(float (&sum)[DOWN][ACROSS][4],
                                                     const bf16 (*a)[DIM], const bf16 (*b)[DIM])
{
    /* TODO: `mma` wants b^T column by column, which are b's rows: nothing is turned. Of two
       chunks at a time, DOWN parts of a, and one of b after the other (about 18 lines). */
}

/** Two neighbours of a row, as a register of an operand. */
__device__ __forceinline__ static uint32_t rounded(const float two[2])
{
    const __nv_bfloat162 both = __floats2bfloat162_rn(two[0], two[1]);
    return *(const uint32_t *)&both;
}

/** sum += p b, of weights p, which are rounded to bf16, and 8 * ACROSS rows b. WIDTH is DIM / 8. */
template <int DOWN, int ACROSS, int WIDTH, int DIM>
__device__ __forceinline__ static void multiply_weights(float (&sum)[DOWN][WIDTH][4],
                                                        const float (&p)[DOWN][ACROSS][4],
                                                        const bf16 (*b)[DIM])
{
    /* TODO: two products of weights side by side are one operand a; ldmatrix_trans turns b on
       the way (about 20 lines). */
}

/**
 * Rows `row`, `row` + 1, ... of x[rows x DIM] = sum, each times its factor; without those that x
 * has not.
 * @param factor of this lane's rows: row l / 4, l / 4 + 8, l / 4 + 16, ...
 * @param wide   x begins at a multiple of 16 bytes
 */
template <int DOWN, int WIDTH>
__device__ __forceinline__ static void store_rows(bf16 *x, const float (&sum)[DOWN][WIDTH][4],
                                                  const float (&factor)[2 * DOWN], int row,
                                                  int rows, bool wide)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 2 * DOWN; i++) {
        const int r = row + i * 8 + lane / 4;
        bf16 *to = x + (size_t)r * WIDTH * 8 + lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < WIDTH && r < rows; j++) {
            const float *two = &sum[i / 2][j][i % 2 * 2];
            const __nv_bfloat162 both =
                __floats2bfloat162_rn(two[0] * factor[i], two[1] * factor[i]);
            if (wide)
                *(__nv_bfloat162 *)&to[j * 8] = both;
            else
                to[j * 8] = both.x, to[j * 8 + 1] = both.y;
        }
    }
}

#endif
