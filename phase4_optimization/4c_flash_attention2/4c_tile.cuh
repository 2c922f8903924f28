/*
 * 4c_tile.cuh: tiles of bf16 in shared memory, their products on tensor cores, and the way out.
 *
 * It is written once. 4c includes it, and so does 4d, so its names and parameters stay as they are
 * here. A block has TILE_THREADS threads, four warps; the barriers are the caller's.
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

/**
 * tile = rows `row`, `row` + 1, ... of x[rows x DIM]; zeros for rows that x has not. The copies are
 * under way when it returns; copies_done waits for those of this thread.
 * @param wide x begins at a multiple of 16 bytes; else elements are copied one by one
 */
template <int ROWS, int DIM>
__device__ __forceinline__ static void copy_tile(bf16 (&tile)[ROWS][DIM], const bf16 *x, int row,
                                                 int rows, bool wide);

/** Wait for the copies of this thread; those of others take a barrier. */
__device__ __forceinline__ static void copies_done(void)
{
    cp_async_wait_all();
}

/** sum += a b^T, of 16 * DOWN rows a and 8 * ACROSS rows b, both from a row of a tile on that is a
 *  multiple of 8. */
template <int DOWN, int ACROSS, int DIM>
__device__ __forceinline__ static void multiply_rows(float (&sum)[DOWN][ACROSS][4],
                                                     const bf16 (*a)[DIM], const bf16 (*b)[DIM]);

/** sum += p b, of weights p, which are rounded to bf16, and 8 * ACROSS rows b. WIDTH is DIM / 8. */
template <int DOWN, int ACROSS, int WIDTH, int DIM>
__device__ __forceinline__ static void multiply_weights(float (&sum)[DOWN][WIDTH][4],
                                                        const float (&p)[DOWN][ACROSS][4],
                                                        const bf16 (*b)[DIM]);

/**
 * Rows `row`, `row` + 1, ... of x[rows x DIM] = sum, each times its factor; without those that x
 * has not.
 * @param factor of this lane's rows: row l / 4, l / 4 + 8, l / 4 + 16, ...
 * @param wide   x begins at a multiple of 16 bytes
 */
template <int DOWN, int WIDTH>
__device__ __forceinline__ static void store_rows(bf16 *x, const float (&sum)[DOWN][WIDTH][4],
                                                  const float (&factor)[2 * DOWN], int row,
                                                  int rows, bool wide);

/** 2^x by the unit that has it; 0 for -infinity. */
__device__ __forceinline__ static float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* TODO: a chunk's place, and copy_tile, 16 bytes a thread (about 40 lines). */

/* TODO: multiply_rows: `mma` wants b^T column by column, which are b's rows: nothing is turned
   (about 25 lines). */

/* TODO: multiply_weights: two products of weights side by side are one operand a, and b is
   turned on the way (about 35 lines). */

/* TODO: store_rows: two neighbours a store where they are aligned (about 20 lines). */

#endif
