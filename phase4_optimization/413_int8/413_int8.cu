/*
 * 413_int8.cu: matrices of 8-bit whole numbers: quantize, multiply exactly, come back to fp32.
 *
 * The idea: a row of floats becomes whole numbers q with one scale and one zero point,
 *
 *     x  is about  scale * (q - zero_point)          q = -128 .. 127
 *
 * which takes a quarter of the memory. A product of two such numbers fits in 15 bits, a sum of
 * 131,071 of them in an int: the matrix product is exact, in any order. Scales and zero points wait
 * until it is done:
 *
 *     sum (qa - za)(qb - zb)  =  sum qa qb  -  za sum qb  -  zb sum qa  +  k za zb
 *                                the product   the sums of rows, which quantize_s8 has at hand
 *
 * The product has rows of both operands along the sum. `dp4a` wants four bytes that follow each
 * other along the sum in one register, of a and of b; so does `mma`. Transposing b on the way, as
 * 4a does, is not possible: `ldmatrix.trans` moves pairs of bytes, and would keep the wrong ones
 * together. And weights [out x in] lie like that anyway.
 *
 *     mma.m16n8k32   sum[16 x 8] += a[16 x 32] b[8 x 32]^T, for rows of 16 aligned bytes. A row of
 *                    32 bytes is to ldmatrix what a row of 16 bf16 is to it in 4a, so fragments,
 *                    swizzle and ring are those of 4a, and each instruction has twice the terms.
 *     dp4a           four terms a thread: for what is small, or lies anyhow
 *
 * The cost removed: bytes, and tensor cores that take twice as many terms at a time as of bf16. The
 * cost left: quantize_s8 reads x twice, and c goes to memory and back as ints of 4 bytes where the
 * product could end with the epilogue itself (404).
 *
 * Given: the tiles of both products and how they are filled, and which of the two is launched; and,
 * in tensor_core.h, the instructions. Yours: the scale of a row, its numbers, the inner step of
 * either product, and the way back to floats.
 */
#include "413_int8/int8.h"
#include "cuda_check.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include "tensor_core.h"
#include <stdint.h>

#define THREADS 256 /* of each block here: 8 warps */

/* ---- quantize -------------------------------------------------------------------------------- */

/** The smallest and the largest of some numbers, and of 0, so that there is a q for it. Of no
 *  numbers it is 0 .. 0. */
struct range {
    float low, high;
};

/** The range, widened to hold x as well. Infinities and NaN do not count: they would leave no scale
 *  for all others. */
__device__ static range with(range r, float x)
{
    /* TODO: low and high change only if x is finite (about 2 lines). */
    return {};
}

/** The range over all threads of the block, to each of them. */
__device__ static range over_block(range r)
{
    __shared__ range parts[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        r.low = fminf(r.low, __shfl_xor_sync(0xffffffffu, r.low, distance));
        r.high = fmaxf(r.high, __shfl_xor_sync(0xffffffffu, r.high, distance));
    }
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = r;
    __syncthreads();
    for (int i = 0; i < THREADS / 32; i++) r = with(with(r, parts[i].low), parts[i].high);
    return r;
}

/** @param x [cols]; all threads of the block look at it together */
__device__ static range range_of_row(const float *x, int cols)
{
    /* TODO: from 0 .. 0 on, each thread its share of the row; then over the block (about 3
       lines). */
    return {};
}

struct group {
    float scale;
    int zero_point;
};

/** The scale and the zero point of a range: the formulas are in int8.h. high - low may be infinite
 *  where its 255th part is not: take halves. */
__device__ static group group_of(range r, bool symmetric)
{
    /* TODO: a scale of 0 becomes 1; the zero point is 0, or rounded to the nearest and clamped
       to -128 .. 127 (about 4 lines). */
    return {};
}

/** The q of a number. The clamp comes before the conversion, since infinity has no int; zero_point
 *  comes after rounding, or it would turn ties to even into ties to odd. */
__device__ static int quantized(float x, group g)
{
    /* TODO: NaN gives the zero point; else divide, round halves to even (rintf), add the zero
       point, clamp to -128 .. 127 (about 3 lines). */
    return {};
}

/** For one group of all rows, a block a row: the ranges of rows wait where their scales and zero
 *  points will stand. */
__global__ static void row_ranges_kernel(float *scale, int *zero_point, const float *x, int cols)
{
    const range r = range_of_row(x + (size_t)blockIdx.x * cols, cols);
    if (threadIdx.x > 0) return;
    scale[blockIdx.x] = r.low;
    zero_point[blockIdx.x] = __float_as_int(r.high);
}

/** One block, after that: one group of all ranges, written for each row. */
__global__ static void one_group_kernel(float *scale, int *zero_point, int rows, bool symmetric)
{
    range r = {0.0f, 0.0f};
    for (size_t i = threadIdx.x; i < (size_t)rows; i += THREADS)
        r = with(with(r, scale[i]), __int_as_float(zero_point[i]));
    const group g = group_of(over_block(r), symmetric); /* all rows are read: over_block waits */
    for (size_t i = threadIdx.x; i < (size_t)rows; i += THREADS)
        scale[i] = g.scale, zero_point[i] = g.zero_point;
}

/** A block a row. The row is a group of its own if per_channel; else its scale is there already.
 *  @param q, x     [rows x cols]
 *  @param row_sums [rows] sums of q */
__global__ static void quantize_kernel(int8_t *q, float *scale, int *zero_point, int *row_sums,
                                       const float *x, int cols, bool per_channel, bool symmetric)
{
    __shared__ int total;
    const size_t row = blockIdx.x;
    const float *from = x + row * cols;
    const group g = per_channel ? group_of(range_of_row(from, cols), symmetric)
                                : group{scale[row], zero_point[row]};
    int sum = 0;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    /* TODO: each thread stores its share of the row's numbers, and sums it (about 4 lines). */
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0)
        scale[row] = g.scale, zero_point[row] = g.zero_point, row_sums[row] = total;
}

cudaError_t quantize_s8(int8_t *q, float *scale, int *zero_point, int *row_sums, const float *x,
                        int rows, int cols, int per_channel, int symmetric, cudaStream_t stream)
{
    /* TODO: a launch for rows of their own, three for one group. A block of THREADS threads a
       row; of no rows nothing is launched (about 7 lines). */
    NOT_IMPLEMENTED(q, scale, zero_point, row_sums, x, rows, cols, per_channel, symmetric, stream);
    return cudaGetLastError();
}

/* ---- multiply: dp4a -------------------------------------------------------------------------- */

#define DP4A_TILE 64 /* DP4A_TILE x DP4A_TILE elements of c a block */
#define WORDS     16 /* terms of a step, in fours */
#define EACH      4  /* EACH x EACH sums a thread, DP4A_TILE / EACH rows and columns apart */

/** Four bytes from x on, as far as there are any; then 0, which adds nothing. */
template <bool WHOLE> __device__ static int word_of(const int8_t *x, int left)
{
    if (left <= 0) return 0;
    if (WHOLE) return *(const int *)x;
    unsigned word = 0;
    for (int i = 0; i < 4 && i < left; i++) word |= (unsigned)(uint8_t)x[i] << i * 8;
    return (int)word;
}

/** Rows from `row` on, terms from k0 on. A row is one word longer, so that 16 rows meet in no bank.
 */
template <bool WHOLE>
__device__ static void fill(int tile[DP4A_TILE][WORDS + 1], const int8_t *x, long row, int k0,
                            int rows, int k)
{
    for (int i = threadIdx.x; i < DP4A_TILE * WORDS; i += THREADS) {
        const int r = i / WORDS, at = k0 + i % WORDS * 4;
        tile[r][i % WORDS] = row + r < rows ? word_of<WHOLE>(x + (row + r) * k + at, k - at) : 0;
    }
}

/** A block DP4A_TILE x DP4A_TILE elements of c.
 *  @tparam WHOLE rows of both begin at multiples of 4 bytes, and have as many */
template <bool WHOLE>
__global__ static void gemm_dp4a_kernel(int32_t *c, const int8_t *a, const int8_t *b, int m, int n,
                                        int k)
{
    __shared__ int a_tile[DP4A_TILE][WORDS + 1], b_tile[DP4A_TILE][WORDS + 1];
    const long across = (n - 1L) / DP4A_TILE + 1;
    const long row = blockIdx.x / across * DP4A_TILE, col = blockIdx.x % across * DP4A_TILE;
    const int y = threadIdx.x / (DP4A_TILE / EACH), x = threadIdx.x % (DP4A_TILE / EACH);
    int sum[EACH][EACH] = {};
    for (long start = 0; start < k; start += WORDS * 4) {
        fill<WHOLE>(a_tile, a, row, (int)start, m, k);
        fill<WHOLE>(b_tile, b, col, (int)start, n, k);
        __syncthreads(); /* both tiles are complete */
        /* TODO: the inner step: for each of the WORDS words, __dp4a adds four products to
           sum[i][j]: of row y + i * (DP4A_TILE / EACH) of a_tile, and of row
           x + j * (DP4A_TILE / EACH) of b_tile (about 7 lines). */
        __syncthreads(); /* and read, before the next ones overwrite them */
    }
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            const long r = row + y + i * (DP4A_TILE / EACH), q = col + x + j * (DP4A_TILE / EACH);
            if (r < m && q < n) c[r * n + q] = sum[i][j];
        }
    }
}

/* ---- multiply: mma --------------------------------------------------------------------------- */

#define TILE   128 /* TILE x TILE elements of c a block */
#define ROW    128 /* terms of a step, and bytes of a row of a tile: 8 chunks of 16 */
#define STAGE  (2 * TILE * ROW)
#define STAGES 3 /* 96 KB: two blocks a multiprocessor where that has 227 KB */
#define DOWN   4 /* products of 16 x 8 that a warp has; there are 2 x 4 warps */
#define ACROSS 4
#define COPIES (TILE * 8 / THREADS) /* chunks a thread, of either tile */

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
        /* TODO: the inner step, 32 terms, which begin at a ^ step * 32 and b ^ step * 32.
           ldmatrix of DOWN matrices of a, each 16 rows of ROW bytes further on, and of ACROSS / 2
           of b, each for two products; then mma_s8 for each of DOWN x ACROSS products. Product j
           takes words j % 2 and j % 2 + 2 of matrix j / 2 of b (about 13 lines). */
    }
}

/** A block TILE x TILE elements of c: a ring of three stages, copied two ahead.
 *  @tparam PAIRS two neighbours of c lie at a multiple of 8 bytes */
template <bool PAIRS>
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
            if (PAIRS) {
                *(int2 *)&c[y * n + x] = make_int2(two[0], two[1]);
            } else {
                c[y * n + x] = two[0];
                if (x + 1 < n) c[y * n + x + 1] = two[1];
            }
        }
    }
}

/* ---- multiply: which of the two ---- */

static unsigned tiles(long m, long n, long side)
{
    return (unsigned)(((m - 1) / side + 1) * ((n - 1) / side + 1));
}

static cudaError_t launch_mma(int32_t *c, const int8_t *a, const int8_t *b, int m, int n, int k,
                              cudaStream_t stream)
{
    const bool pairs = n % 2 == 0 && (uintptr_t)c % 8 == 0;
    const auto kernel = pairs ? gemm_mma_kernel<true> : gemm_mma_kernel<false>;
    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * STAGE));
    kernel<<<tiles(m, n, TILE), THREADS, STAGES * STAGE, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}

static cudaError_t launch_dp4a(int32_t *c, const int8_t *a, const int8_t *b, int m, int n, int k,
                               cudaStream_t stream)
{
    if (((uintptr_t)a | (uintptr_t)b) % 4 == 0 && k % 4 == 0)
        gemm_dp4a_kernel<true><<<tiles(m, n, DP4A_TILE), THREADS, 0, stream>>>(c, a, b, m, n, k);
    else
        gemm_dp4a_kernel<false><<<tiles(m, n, DP4A_TILE), THREADS, 0, stream>>>(c, a, b, m, n, k);
    return cudaGetLastError();
}

cudaError_t gemm_s8s8s32(int32_t *c, const int8_t *a, const int8_t *b, int m, int n, int k,
                         cudaStream_t stream)
{
    /* TODO: launch_mma where rows of a and b begin at multiples of 16 bytes and a product of
       16 x 8 x 32 can be full; else launch_dp4a; and nothing for an empty c (about 6 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

/* ---- back to floats -------------------------------------------------------------------------- */

#define ROWS 16 /* of a block */

/** A block for ROWS x THREADS elements: a thread keeps what belongs to its column, and walks down
 *  the rows. In 64 bits, for the four terms may be large where their sum is small.
 *  @param y, c [m x n]
 *  @param bias [n] or NULL; what ends in _a is [m], what ends in _b [n] */
__global__ static void dequantize_kernel(float *y, const int32_t *c, const float *scale_a,
                                         const int *zero_a, const int *sums_a, const float *scale_b,
                                         const int *zero_b, const int *sums_b, const float *bias,
                                         int m, int n, int k)
{
    const long across = (n - 1L) / THREADS + 1;
    const long first = blockIdx.x / across * ROWS;
    const long col = blockIdx.x % across * THREADS + threadIdx.x;
    if (col >= n) return;
    /* TODO: of each row the sum of (a - zero_a) (b - zero_b), in whole numbers: c, less
       zero_a * sums_b, less zero_b * sums_a, plus k * zero_a * zero_b. Make it a float, multiply by
       both scales, add the bias (about 7 lines). */
}

cudaError_t dequantize_epilogue(float *y, const int32_t *c, const float *scale_a, const int *zero_a,
                                const int *sums_a, const float *scale_b, const int *zero_b,
                                const int *sums_b, const float *bias, int m, int n, int k,
                                cudaStream_t stream)
{
    /* TODO: the launch: blocks of THREADS threads, all of them along x; of no elements there is
       none (about 4 lines). */
    NOT_IMPLEMENTED(y, c, scale_a, zero_a, sums_a, scale_b, zero_b, sums_b, bias, m, n, k, stream);
    return cudaGetLastError();
}
