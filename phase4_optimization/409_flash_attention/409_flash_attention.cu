/*
 * 409_flash_attention.cu: attention whose scores never leave the multiprocessor, by an online
 * softmax.
 *
 * The idea: 313 stores seq x seq scores, because the softmax needs the maximum and the sum of a
 * whole row before it knows its first weight. Here a block keeps its queries and goes through the
 * keys a tile at a time. Of each query it carries what it has seen so far: the largest score m, the
 * sum l of exp(score - m), and the sum o of exp(score - m) v. If the next tile has a larger score,
 * both sums are relative to too small an m, by a factor that is known:
 *
 *     new m  = max(m, scores of the tile)           shrink = exp(m - new m)
 *     l = l shrink + sum of exp(score - new m)      o = o shrink + sum of exp(score - new m) v
 *
 * In the end out = o / l, and lse = m + log l, which a backward pass needs.
 *
 * A block has 32 queries, and tiles of 32 keys. A warp is a query and a lane is a key, so that each
 * thread has one score of the tile, and the maximum of a row passes by shuffles. Lane x sums
 * columns x, x + 32, x + 64 and x + 96 of the query's row of out. If causal, tiles that come after
 * all queries of the block are left out: half of the work.
 *
 * The cost removed: seq x seq scores, in memory and on their way to it and back.
 *
 * The cost left: each multiply-add reads one or two operands from shared memory, which delivers a
 * quarter of what the arithmetic takes. 4h keeps 8 x 8 scores per thread in registers; 4c does both
 * products on tensor cores, which have 16 times as many multiply-adds.
 */
#include "409_flash_attention/flash_attention.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include <math.h>

#define TILE 32  /* queries of a block, a warp each; keys of a tile, a lane each */
#define COLS 128 /* columns that a row of a tile has room for */
#define MINE 4   /* columns of out that a thread sums: its lane's, and every 32 further */

/** A call; q, k, v and out are [heads x seq x dim], lse is [heads x seq]. */
typedef struct attention {
    float *out, *lse;
    const float *q, *k, *v;
    unsigned heads, seq, dim; /* heads of all of the batch */
    bool causal;
    float scale;
} attention;

/** The state of a thread for its query, from the tiles that it has seen. */
typedef struct seen {
    float m;       /* the largest score: the same in all lanes */
    float l;       /* the sum of exp(score - m) over the keys of this lane */
    float o[MINE]; /* the sum of exp(score - m) v over all keys, of the lane's columns */
} seen;

/** The largest, and the sum, of one value per lane; each lane gets it. */
__device__ static float warp_max(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

__device__ static float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/**
 * tile = rows `start` .. start + 31 of x[seq x dim], zeros beyond seq; columns beyond dim stay as
 * they are. A tile has one column more than it needs: lanes that read a column of it, one row each,
 * meet 32 different banks.
 */
__device__ static void load_tile(float (*tile)[COLS + 1], const float *x, unsigned start,
                                 attention a)
{
    /* TODO: row threadIdx.y, and every 32nd column (about 3 lines). */
}

/**
 * @param q, k [dim] rows of shared memory
 * @return the score of query number `query` and key number `key`; -infinity where the query must
 *         not see the key: it does not exist, or comes later
 */
__device__ static float score(const float *q, const float *k, unsigned query, unsigned key,
                              attention a)
{
    /* TODO: the mask, else the product (about 4 lines). */
    return {};
}

/**
 * The online softmax. Earlier sums shrink as the maximum grows, and l gets the new weight;
 * o gets it from add_values.
 * @param s the score of this lane's key
 * @return its weight exp(s - m); 0 where s is -infinity
 */
__device__ static float soften(seen *to, float s)
{
    /* TODO: the new maximum of the row; beware of -infinity - -infinity (about 8 lines). */
    return {};
}

/**
 * o += p v: the weights of the row times the lane's columns of the tile.
 * @param v      a tile of values
 * @param weight of key threadIdx.x of the tile
 */
__device__ static void add_values(seen *to, float (*v)[COLS + 1], float weight, unsigned dim)
{
    /* TODO: the weight of each key comes from its lane (about 7 lines). */
}

/** out and lse of one query, unless it is beyond seq. No key with weight: zeros, and -infinity. */
__device__ static void store(const seen *from, attention a, size_t head, unsigned query)
{
    /* TODO: the sum of all lanes; o / l; m + log l (about 8 lines). */
}

/** A block per 32 queries of a head: of head blockIdx.x % heads, from query 32 (blockIdx.x / heads)
 *  on. Thread (x, y) has query y of the block's, and key x of each tile. */
__global__ static void __launch_bounds__(TILE *TILE) flash_kernel(attention a)
{
    /* TODO: two tiles in shared memory: one of queries, one that holds k and then v. A loop
       over tiles of keys, of which a causal block needs no more than its last query sees. Barriers
       between loading a tile and reading it. In the end, store (about 20 lines). */
}

cudaError_t attention_flash(float *out, float *lse, const float *q, const float *k, const float *v,
                            int batch, int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    if (dim > COLS) return cudaErrorInvalidValue;
    /* TODO: the kernel's arguments, and its launch; none if there is nothing to compute (about
       5 lines). */
    NOT_IMPLEMENTED(out, lse, q, k, v, batch, heads, seq, dim, causal, scale, stream);
    return cudaGetLastError();
}
