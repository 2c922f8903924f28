/*
 * 404_tile.cuh: given: a tile of x * w^T, whose sums stay in registers.
 *
 *   tile_product          what a block of GROUPS * TILE_THREADS threads sums up
 *   sum_row, sum_col      which element of the tile sum[i][j] of a thread is
 *   TILE_ROWS, TILE_COLS  the size of the tile, TILE_BYTES its shared memory
 *
 * It is 2a's tile for warps: a ring of stages, copies by cp.async two stages ahead, TM x TN sums
 * per thread, both multiples of 4. 2a says why it is fast. Here w has rows along k, too, so that
 * both tiles are transposed on the way. Column c of y moves to place_of(c): four neighbours in
 * shared memory, one load, are 8 columns apart in y. So neighbouring lanes store neighbouring
 * elements of y.
 *
 * Where there are too few tiles for two blocks per multiprocessor, a block has two groups of
 * threads: each has a ring of its own and sums up half of k, then they exchange sums. A warp that
 * is alone on its scheduler waits for shared memory after every few multiplications; with a second
 * one, they take turns.
 */
#ifndef COURSE_FUSION_TILE_CUH
#define COURSE_FUSION_TILE_CUH

#include <stddef.h>
#include <stdint.h>

#define TILE_THREADS               128 /* of a group: 4 warps: 2 down, 2 across; 4 x 8 lanes each */
#define TILE_DEPTH                 16  /* steps along k of a stage */
#define TILE_STAGES                3
#define ALONG_K                    8 /* neighbouring lanes copy so many elements of a row */

#define TILE_ROWS(TM)              (2 * 4 * (TM))
#define TILE_COLS(TN)              (2 * 8 * (TN))
#define TILE_BYTES(TM, TN, GROUPS) ((GROUPS)*TILE_STAGES * (int)sizeof(tile_stage<TM, TN>))

template <int TM, int TN> struct tile_stage {
    float x[TILE_DEPTH][TILE_ROWS(TM) + 4]; /* [k][row]: what 8 lanes x 4 rows store, 32 banks */
    float w[TILE_DEPTH][TILE_COLS(TN) + 4]; /* [k][place of the column] */
};

/** The row of sum[i][...], and the column of sum[...][j], in the tile. Of GROUPS, each has a part
 * of the rows at last. */
template <int TM, int GROUPS> __device__ __forceinline__ static int sum_row(int i)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int of_group = GROUPS > 1 ? threadIdx.x / TILE_THREADS * (TM / GROUPS) * 4 : 0;
    return of_group + warp / 2 * 4 * TM + (lane / 16 * 2 + lane / 2 % 2) * 4 + i % 4 + i / 4 * 16;
}

template <int TN> __device__ __forceinline__ static int sum_col(int j)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp % 2 * 8 * TN + lane / 4 % 4 * 2 + lane % 2 + 8 * j;
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
template <int TM, int TN>
__device__ __forceinline__ static void
take(float x_part[TM], float w_part[TN], const tile_stage<TM, TN> *from, int s, int row, int place)
{
#pragma unroll
    for (int i = 0; i < TM; i += 4)
        *(float4 *)&x_part[i] = *(const float4 *)&from->x[s][row + i * 4];
#pragma unroll
    for (int j = 0; j < TN; j += 4)
        *(float4 *)&w_part[j] = *(const float4 *)&from->w[s][place + j * 8];
}

/** Two groups have the same sums, each of its part of k. Group 0 gets all of the first TM / 2 rows,
 * group 1 those of the others, which are its first ones then. */
template <int TM, int TN>
__device__ __forceinline__ static void exchange(float (&sum)[TM][TN], float *memory)
{
    const int group = threadIdx.x / TILE_THREADS, t = threadIdx.x % TILE_THREADS;
    float *const given = memory + group * TM / 2 * TN * TILE_THREADS + t;
    const float *const got = memory + (1 - group) * TM / 2 * TN * TILE_THREADS + t;
    __syncthreads(); /* no thread reads a ring any more */
#pragma unroll
    for (int e = 0; e < TM / 2 * TN; e++) {
        float &first = sum[e / TN][e % TN], &second = sum[TM / 2 + e / TN][e % TN];
        given[e * TILE_THREADS] = group == 0 ? second : first;
        first = group == 0 ? first : second;
    }
    __syncthreads(); /* the other group's sums are there */
#pragma unroll
    for (int e = 0; e < TM / 2 * TN; e++) sum[e / TN][e % TN] += got[e * TILE_THREADS];
}

/**
 * sum[i][j] = x[row + sum_row(i)] * w[col + sum_col(j)], for i < TM / GROUPS and all threads of the
 * block. Where there is no such row of x or w, it is the sum of the last one.
 * @param sum    zeros before
 * @param x      [batch x k]
 * @param w      [out_features x k]
 * @param memory TILE_BYTES of shared memory, at a multiple of 16 bytes
 */
template <int GROUPS, int TM, int TN>
__device__ __forceinline__ static void tile_product(float (&sum)[TM][TN], void *memory,
                                                    const float *x, const float *w, int row,
                                                    int col, int batch, int out_features, int k)
{
    static_assert(GROUPS == 1 || (GROUPS == 2 && TM % 8 == 0), "a group has whole fours of rows");
    constexpr int step = TILE_THREADS / ALONG_K; /* between the rows that a thread copies */
    constexpr int x_rows = TILE_ROWS(TM) / step, w_rows = TILE_COLS(TN) / step;
    constexpr int parts = x_rows > w_rows ? x_rows : w_rows; /* of the copies of a stage */
    const int group = GROUPS > 1 ? threadIdx.x / TILE_THREADS : 0;
    tile_stage<TM, TN> *const ring = (tile_stage<TM, TN> *)memory + group * TILE_STAGES;
    const int copied = threadIdx.x % TILE_THREADS / ALONG_K, copied_k = threadIdx.x % ALONG_K;
    const int r0 = sum_row<TM, 1>(0), p0 = place_of(sum_col<TN>(0));
    const int share = (k + GROUPS * TILE_DEPTH - 1) / (GROUPS * TILE_DEPTH) * TILE_DEPTH;
    const int begin = group * share; /* each group has so much of k, the last one less */
    const float *from_x[x_rows], *from_w[w_rows];
#pragma unroll
    for (int i = 0; i < x_rows; i++)
        from_x[i] = x + (size_t)min(row + copied + i * step, batch - 1) * k + begin + copied_k;
#pragma unroll
    for (int i = 0; i < w_rows; i++) {
        const int q = col + column_at(copied + i * step);
        from_w[i] = w + (size_t)min(q, out_features - 1) * k + begin + copied_k;
    }
    int left = min(share, k - begin);  /* steps along k that are not yet copied */
    int read = 0, write = 0;           /* stages */
    const auto fetch = [&](int part) { /* the copies are spread over the steps; the last commits */
#pragma unroll
                                       for (int s = 0; s < TILE_DEPTH; s += ALONG_K) {
                                           const bool inside = copied_k + s < left;
                                           const int place = copied + part * step;
                                           if (part < x_rows)
                                               copy_to_tile(&ring[write].x[copied_k + s][place],
                                                            from_x[part] + s, inside);
                                           if (part < w_rows)
                                               copy_to_tile(&ring[write].w[copied_k + s][place],
                                                            from_w[part] + s, inside);
                                       }
                                       if (part < x_rows) from_x[part] += TILE_DEPTH;
                                       if (part < w_rows) from_w[part] += TILE_DEPTH;
                                       if (part < parts - 1) return;
                                       asm volatile("cp.async.commit_group;" ::
                                                        : "memory"); /* even of a tile beyond k */
                                       left -= TILE_DEPTH;
                                       write = (write + 1) % TILE_STAGES;
    };

    __align__(16) float x_part[2][TM], w_part[2][TN];
    for (int i = 0; i < TILE_STAGES - 1; i++) {
#pragma unroll
        for (int part = 0; part < parts; part++) fetch(part);
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(TILE_STAGES - 2) : "memory");
    __syncthreads(); /* the first stage is complete */
    take<TM, TN>(x_part[0], w_part[0], ring, 0, r0, p0);
    for (int start = 0; start < share; start += TILE_DEPTH) {
#pragma unroll
        for (int s = 0; s < TILE_DEPTH; s++) {
            const int now = s % 2, next = (s + 1) % TILE_DEPTH;
            if (next == 0) {
                read = (read + 1) % TILE_STAGES;
                asm volatile("cp.async.wait_group %0;" ::"n"(TILE_STAGES - 2) : "memory");
                __syncthreads(); /* the next stage is complete, and this one has been read */
            }
            take<TM, TN>(x_part[1 - now], w_part[1 - now], &ring[read], next, r0, p0);
            if (s < parts) fetch(s);
#pragma unroll
            for (int i = 0; i < TM; i++) {
#pragma unroll
                for (int e = 0; e < TN; e++) {
                    const int j = i % 2 ? TN - 1 - e : e;
                    sum[i][j] += x_part[now][i] * w_part[now][j];
                }
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory"); /* the block may not end before its copies */
    if constexpr (GROUPS > 1) exchange(sum, (float *)memory);
}

#endif
