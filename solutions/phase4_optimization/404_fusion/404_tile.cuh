/*
 * 404_tile.cuh: given: a tile of x * w^T, whose sums stay in registers.
 *
 *   tile_product                what a block of TILE_THREADS threads sums up
 *   sum_row, sum_col            which element of the tile sum[i][j] of a thread is
 *
 * It is 2a's tile for warps: a ring of stages, copies by cp.async three stages ahead, TM x TN sums
 * per thread. 2a says why it is fast. Here w has rows along k, too. The tile of x stays as it is in
 * memory; the tile of w is transposed by copies of 4 bytes. On the way column c of y moves to
 * place_of(c), so that a thread's four neighbours in shared memory are 8 columns apart in y, and
 * neighbouring lanes store neighbouring elements.
 */
#ifndef COURSE_FUSION_TILE_CUH
#define COURSE_FUSION_TILE_CUH

#include <stddef.h>
#include <stdint.h>

#define BM           128 /* BM x BN elements of y per block */
#define BN           128
#define BK           8
#define STAGES       4
#define TM           16 /* TM x TN elements of y per thread: rows 4 apart, */
#define TN           8  /* columns 8 apart */
#define TILE_THREADS 128

/** The row of sum[i][...], and the column of sum[...][j], in the tile. */
__device__ __forceinline__ static int sum_row(int i)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp / 2 * 64 + lane / 16 * 2 + lane / 2 % 2 + 4 * i;
}

__device__ __forceinline__ static int sum_col(int j)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp % 2 * 64 + lane / 4 % 4 * 2 + lane % 2 + 8 * j;
}

/** Where column c of y is in the tile of w. */
__device__ __forceinline__ static int place_of(int c)
{
    return c / 32 * 32 + c % 8 * 4 + c % 32 / 8;
}

/** BYTES, 4 or 16, to shared memory; zeros unless `inside`. */
template <int BYTES>
__device__ __forceinline__ static void copy_to_tile(float *to, const float *from, bool inside)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from),
                     "r"(inside ? 16 : 0)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from),
                     "r"(inside ? 4 : 0)
                     : "memory");
}

/**
 * sum[i][j] = x[row + sum_row(i)] * w[col + sum_col(j)], for all threads of the block. Where there
 * is no such row of x or w, it is the sum of another one.
 * @param x    [batch x k]; WIDE: each of its rows begins at a multiple of 16 bytes
 * @param w    [out_features x k]
 */
template <bool WIDE>
__device__ __forceinline__ static void tile_product(float (&sum)[TM][TN], const float *x,
                                                    const float *w, int row, int col, int batch,
                                                    int out_features, int k)
{
    __shared__ __align__(16) float x_tile[STAGES][BM][BK], w_tile[STAGES][BK][BN];
    const int t = threadIdx.x, x_row = t / 2, x_k = t % 2 * 4, place = place_of(t);
    const int r0 = sum_row(0), q0 = place_of(sum_col(0));
    const float *from_x[2], *from_w = w + (size_t)min(col + t, out_features - 1) * k;
    int left = k, write = 0, read = 0; /* steps along k not yet copied; stages */
#pragma unroll
    for (int i = 0; i < 2; i++)
        from_x[i] = x + (size_t)min(row + x_row + 64 * i, batch - 1) * k + x_k;
    const auto fetch = [&] {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float *to = &x_tile[write][x_row + 64 * i][x_k];
            if (WIDE) copy_to_tile<16>(to, from_x[i], x_k < left);
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (!WIDE) copy_to_tile<4>(to + e, from_x[i] + e, x_k + e < left);
            from_x[i] += BK;
        }
#pragma unroll
        for (int s = 0; s < BK; s++)
            copy_to_tile<4>(&w_tile[write][s][place], from_w + s, s < left);
        from_w += BK;
        asm volatile("cp.async.commit_group;" ::: "memory"); /* even of a tile beyond k */
        left -= BK;
        write = (write + 1) % STAGES;
    };

    __align__(16) float x_part[TM][4], w_part[2][TN]; /* four steps of x, one of w */
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) sum[i][j] = 0.0f;
    for (int i = 0; i < STAGES - 1; i++) fetch();
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads(); /* the first stage is complete */
#pragma unroll
    for (int i = 0; i < TM; i++) *(float4 *)x_part[i] = *(const float4 *)x_tile[0][r0 + 4 * i];
#pragma unroll
    for (int j = 0; j < TN; j += 4)
        *(float4 *)&w_part[0][j] = *(const float4 *)&w_tile[0][0][q0 + 8 * j];
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
                *(float4 *)&w_part[next % 2][j] = *(const float4 *)&w_tile[read][next][q0 + 8 * j];
#pragma unroll
            for (int i = 0; i < TM; i++) {
#pragma unroll
                for (int step = 0; step < TN; step++) {
                    const int j = i % 2 ? TN - 1 - step : step;
                    sum[i][j] += x_part[i][s % 4] * w_part[s % 2][j];
                }
                if (next % 4 == 0)
                    *(float4 *)x_part[i] = *(const float4 *)&x_tile[read][r0 + 4 * i][next];
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory"); /* the block may not end before its copies */
}

#endif
