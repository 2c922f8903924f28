/*
 * 4c_flash_attention2.cu: attention in one pass, in bf16, on tensor cores.
 *
 * A block has 128 queries of one head and walks along the keys, 64 at a time; it never holds more
 * of the scores than 128 x 64. A warp has 32 of the queries and whole rows of their scores, so that
 * what follows concerns no other warp:
 *
 *     scores  = queries keys^T        by `mma`, from shared memory
 *     weights = 2^(scores - high)     in the registers where `mma` left the scores
 *     out     = out + weights values  by `mma`, from there
 *
 * The third line is the point. Two products side by side, as `mma` leaves them, are one operand as
 * `mma` takes it, once they are rounded to bf16. Neither scores nor weights see any memory.
 *
 * 1. Base 2. The multiprocessor has 2^x and not e^x; log2(e) joins the factor of the scores.
 * 2. A lazy maximum. Any `high` is right as long as no weight overflows, for the sum is relative to
 *    it as well. So it moves, and out is scaled, only where a score exceeds it by 8, a weight of
 *    256. Each new maximum would cost a lane 128 multiplications, and one of 32 rows often has one.
 * 3. Nothing in vain. A causal block ends at its last query, each warp at its own; only tiles that
 *    are cut are masked; blocks with many keys start first.
 *
 * Registers: of a lane's, 128 hold out (32 x 128 sums a warp), 64 scores, 8 high and sum, 12
 * operands. With addresses that is the 255 that a thread may have, and a multiprocessor holds two
 * blocks: one's exponentials run beside the other's products. Shared memory: 32 KB of queries, two
 * stages of 16 KB of keys and 16 KB of values. Two blocks need 192 of Hopper's 227 KB; where a
 * block may have no more than 99 KB there is room for one.
 *
 * The cost removed: the multiply-adds in fp32 of 4h. The cost left: what a warp multiplies it
 * loads first, 512 bytes of keys or values for four products, and on Hopper no stream of `mma.sync`
 * keeps the tensor cores more than 63 % busy (4a).
 */
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "4c_flash_attention2/flash_attention2.h"
#include "4c_tile.cuh"
#include "not_implemented.h"
#include <float.h>
#include <math.h>

#define DOWN    2                               /* times 16 queries a warp */
#define QUERIES (TILE_THREADS / 32 * DOWN * 16) /* a block */
#define KEYS    64                              /* a stage */
#define ACROSS  (KEYS / 8)
#define ROWS    (2 * DOWN) /* of which a lane has a part: lane / 4, lane / 4 + 8, ... */
#define LOG2_E  1.4426950408889634f
#define LN_2    0.6931471805599453f

template <int DIM> struct tiles {
    bf16 q[QUERIES][DIM];
    struct {
        bf16 k[KEYS][DIM], v[KEYS][DIM];
    } stage[2];
};

/** high: what the row's weights are relative to, in base 2. sum: of this lane's weights. */
struct softmax {
    float high[ROWS], sum[ROWS];
};

/**
 * Raise high to the row's largest score, of rows where that exceeds it by 8. The others stay, so
 * that what a row gets depends on no other row.
 * @param top this lane's largest scores
 */
template <int WIDTH>
__device__ __forceinline__ static void rescale(softmax *rows, float (&out)[DOWN][WIDTH][4],
                                               const float top[ROWS])
{
    /* TODO: of each row, the largest score among the four lanes that share it; where it exceeds
       high by 8, the factor 2^(high - new high) for sum and out (about 12 lines). */
}

/** Element j of a lane's part of row r. */
__device__ __forceinline__ static float &part(float (&s)[DOWN][ACROSS][4], int r, int j)
{
    return s[r / 2][j / 2][r % 2 * 2 + j % 2];
}

/** @param s scores in base 2, which become weights: 2^(s - high) */
template <int WIDTH>
__device__ __forceinline__ static void weigh(float (&s)[DOWN][ACROSS][4], softmax *rows,
                                             float (&out)[DOWN][WIDTH][4])
{
    /* TODO: this lane's largest score of each row; does one exceed high by 8, in any lane? The
       weights, and their sum (about 18 lines). */
}

/** How many keys a query sees. */
__device__ __forceinline__ static int visible(int query, int seq, bool causal)
{
    return causal ? min(query + 1, seq) : seq;
}

/** Scores from queries `query`, ... and keys `key`, ...: -infinity where the key is not seen. */
__device__ __forceinline__ static void mask(float (&s)[DOWN][ACROSS][4], int query, int key,
                                            int seq, bool causal)
{
    /* TODO: nothing where all queries see all keys; else how many keys from this lane's first
       one on a row may see (about 10 lines). */
}

/** rows->sum becomes the factor of out; lse, that of the warp's first query, may be NULL. */
__device__ __forceinline__ static void finish(softmax *rows, float *lse, int count)
{
    /* TODO: the sum of the four lanes of a row; its reciprocal; lse by one of them (about 10
       lines). */
}

/** @param scale log2(e) included */
template <int DIM>
__global__ static void __launch_bounds__(TILE_THREADS, 2)
    attention_flash2_kernel(bf16 *out, float *lse, const bf16 *q, const bf16 *k, const bf16 *v,
                            int seq, bool causal, float scale, bool wide)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    tiles<DIM> *t = (tiles<DIM> *)shared;
    const unsigned blocks = (seq - 1) / QUERIES + 1; /* of a head; the last one is the first */
    const size_t head = blockIdx.x / blocks, at = head * seq * DIM;
    const int block = (int)(blocks - 1 - blockIdx.x % blocks) * QUERIES;
    const int warp_row = threadIdx.x / 32 * DOWN * 16, query = block + warp_row;
    const int end = visible(block + QUERIES - 1, seq, causal);
    const int warp_end = visible(query + DOWN * 16 - 1, seq, causal);
    float sum[DOWN][DIM / 8][4] = {};
    softmax rows;

#pragma unroll
    for (int r = 0; r < ROWS; r++) rows.high[r] = -FLT_MAX, rows.sum[r] = 0.0f;
    copy_tile(t->q, q + at, block, seq, wide);
    copy_tile(t->stage[0].k, k + at, 0, seq, wide);
    copy_tile(t->stage[0].v, v + at, 0, seq, wide);
    /* TODO: for all keys, a stage at a time: this one is complete, the next one is asked for;
       scores, their factor, the mask, the weights, out (about 18 lines). */
    finish(&rows, lse ? lse + head * seq + query : NULL, seq - query);
    store_rows(out + at, sum, rows.sum, query, seq, wide);
}

template <int DIM>
static cudaError_t launch(bf16 *out, float *lse, const bf16 *q, const bf16 *k, const bf16 *v,
                          size_t heads, int seq, bool causal, float scale, bool wide,
                          cudaStream_t stream)
{
    const cudaError_t error =
        cudaFuncSetAttribute(attention_flash2_kernel<DIM>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(tiles<DIM>));
    if (error != cudaSuccess) return error;
    const size_t blocks = heads * ((seq - 1) / QUERIES + 1);
    attention_flash2_kernel<DIM><<<(unsigned)blocks, TILE_THREADS, sizeof(tiles<DIM>), stream>>>(
        out, lse, q, k, v, seq, causal, scale * LOG2_E, wide);
    return cudaGetLastError();
}

cudaError_t attention_flash2(__nv_bfloat16 *out, float *lse, const __nv_bfloat16 *q,
                             const __nv_bfloat16 *k, const __nv_bfloat16 *v, int batch, int heads,
                             int seq, int dim, int causal, float scale, cudaStream_t stream)
{
    /* TODO: what is refused, what is empty, the launch for this dim; are the chunks of all rows
       aligned? (about 9 lines) */
    NOT_IMPLEMENTED(out, lse, q, k, v, batch, heads, seq, dim, causal, scale, stream);
    return cudaGetLastError();
}
