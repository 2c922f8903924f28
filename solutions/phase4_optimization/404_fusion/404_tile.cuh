/*
 * 404_tile.cuh: given: a tile of x * w^T, whose sums stay in registers.
 *
 *   tile_product          what a block of TILE_THREADS threads sums up
 *   sum_row, sum_col      which element of the tile sum[i][j] of a thread is
 *
 * It is 2a's tile for warps: a ring of stages, copies by cp.async two stages ahead, TM x TN sums
 * per thread. 2a says why it is fast. Here w has rows along k, too, so that both tiles are
 * transposed on the way. Column c of y moves to place_of(c): four neighbours in shared memory, one
 * load, are 8 columns apart in y. So neighbouring lanes store neighbouring elements of y.
 */
#ifndef COURSE_FUSION_TILE_CUH
#define COURSE_FUSION_TILE_CUH

#include <stddef.h>
#include <stdint.h>

#define BM           128 /* BM x BN elements of y per block */
#define BN           128
#define BK           16
#define STAGES       3
#define TM           16 /* TM x TN elements of y per thread: rows in groups of four, 16 apart, */
#define TN           8  /* columns 8 apart */
#define TILE_THREADS 128
#define ALONG_K      8 /* neighbouring lanes copy so many elements of a row */
#define ROW_STEP     (TILE_THREADS / ALONG_K)
#define COPIED_ROWS  (BM / ROW_STEP) /* of x per thread, and of w */
#define TILE_BYTES   (STAGES * (int)sizeof(tile_stage))

typedef struct tile_stage {
    float x[BK][BM + 4]; /* [k][row]: what 8 lanes x 4 rows store is in 32 banks */
    float w[BK][BN + 4]; /* [k][place of the column] */
} tile_stage;

/** The row of sum[i][...], and the column of sum[...][j], in the tile. */
__device__ __forceinline__ static int sum_row(int i)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp / 2 * 64 + (lane / 16 * 2 + lane / 2 % 2) * 4 + i % 4 + i / 4 * 16;
}

__device__ __forceinline__ static int sum_col(int j)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp % 2 * 64 + lane / 4 % 4 * 2 + lane % 2 + 8 * j;
}

/** Where column c of y is in the tile of w, and which column is at place p. */
__device__ __forceinline__ static int place_of(int c)
{
    return c / 32 * 32 + c % 8 * 4 + c % 32 / 8;
}

__device__ __forceinline__ static int column_at(int p)
{
    return p / 32 * 32 + p % 4 * 8 + p % 32 / 4;
}

/** To shared memory, or zero. */
__device__ __forceinline__ static void copy_to_tile(float *to, const float *from, bool inside)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(inside ? 4 : 0)
                 : "memory");
}

/** What a thread needs of step s: TM values of x, TN of w. */
__device__ __forceinline__ static void take(float x_part[TM], float w_part[TN],
                                            const tile_stage *from, int s, int row, int place)
{
#pragma unroll
    for (int i = 0; i < TM; i += 4)
        *(float4 *)&x_part[i] = *(const float4 *)&from->x[s][row + i * 4];
#pragma unroll
    for (int j = 0; j < TN; j += 4)
        *(float4 *)&w_part[j] = *(const float4 *)&from->w[s][place + j * 8];
}

/**
 * sum[i][j] = x[row + sum_row(i)] * w[col + sum_col(j)], for all threads of the block. Where there
 * is no such row of x or w, it is the sum of the last one.
 * @param x    [batch x k]
 * @param w    [out_features x k]
 * @param ring [STAGES] in shared memory, at a multiple of 16 bytes
 */
__device__ __forceinline__ static void tile_product(float sum[TM][TN], tile_stage *ring,
                                                    const float *x, const float *w, int row,
                                                    int col, int batch, int out_features, int k)
{
    const int copied = threadIdx.x / ALONG_K, copied_k = threadIdx.x % ALONG_K;
    const int r0 = sum_row(0), p0 = place_of(sum_col(0));
    const float *from_x[COPIED_ROWS], *from_w[COPIED_ROWS];
#pragma unroll
    for (int i = 0; i < COPIED_ROWS; i++) {
        const int place = copied + i * ROW_STEP, q = col + column_at(place);
        from_x[i] = x + (size_t)min(row + place, batch - 1) * k + copied_k;
        from_w[i] = w + (size_t)min(q, out_features - 1) * k + copied_k;
    }
    int left = k, read = 0, write = 0; /* steps along k that are not yet copied; stages */
    const auto fetch = [&] {
#pragma unroll
        for (int i = 0; i < COPIED_ROWS; i++, from_x[i - 1] += BK, from_w[i - 1] += BK) {
#pragma unroll
            for (int s = 0; s < BK; s += ALONG_K) {
                const int at = copied_k + s, place = copied + i * ROW_STEP;
                copy_to_tile(&ring[write].x[at][place], from_x[i] + s, at < left);
                copy_to_tile(&ring[write].w[at][place], from_w[i] + s, at < left);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory"); /* even of a tile beyond k */
        left -= BK;
        write = (write + 1) % STAGES;
    };

    __align__(16) float x_part[2][TM], w_part[2][TN];
    for (int i = 0; i < STAGES - 1; i++) fetch();
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads(); /* the first stage is complete */
    take(x_part[0], w_part[0], ring, 0, r0, p0);
    for (int start = 0; start < k; start += BK) {
#pragma unroll
        for (int s = 0; s < BK; s++) {
            if (s == BK - 1) {
                read = (read + 1) % STAGES;
                asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
                __syncthreads(); /* the next stage is complete, and this one has been read */
            }
            take(x_part[(s + 1) % 2], w_part[(s + 1) % 2], &ring[read], (s + 1) % BK, r0, p0);
            if (s == 0) fetch();
#pragma unroll
            for (int i = 0; i < TM; i++) {
#pragma unroll
                for (int step = 0; step < TN; step++) {
                    const int j = i % 2 ? TN - 1 - step : step;
                    sum[i][j] += x_part[s % 2][i] * w_part[s % 2][j];
                }
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory"); /* the block may not end before its copies */
}

#endif
