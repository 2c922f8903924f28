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
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
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
    /* SOLUTION: row threadIdx.y, and every 32nd column (about 3 lines). */
    unsigned row = start + threadIdx.y;
    for (unsigned c = threadIdx.x; c < a.dim; c += TILE)
        tile[threadIdx.y][c] = row < a.seq ? x[(size_t)row * a.dim + c] : 0.0f;
    /* END SOLUTION */
}

/**
 * @param q, k [dim] rows of shared memory
 * @return the score of query number `query` and key number `key`; -infinity where the query must
 *         not see the key: it does not exist, or comes later
 */
__device__ static float score(const float *q, const float *k, unsigned query, unsigned key,
                              attention a)
{
    /* SOLUTION: the mask, else the product (about 4 lines). */
    if (key >= a.seq || (a.causal && key > query)) return -INFINITY;
    float sum = 0.0f;
    for (unsigned c = 0; c < a.dim; c++) sum += q[c] * k[c];
    return a.scale * sum;
    /* END SOLUTION */
}

/**
 * The online softmax. Earlier sums shrink as the maximum grows, and l gets the new weight;
 * o gets it from add_values.
 * @param s the score of this lane's key
 * @return its weight exp(s - m); 0 where s is -infinity
 */
__device__ static float soften(seen *to, float s)
{
    /* SOLUTION: the new maximum of the row; beware of -infinity - -infinity (about 8 lines). */
    float m = fmaxf(to->m, warp_max(s));    /* fmaxf passes over a NaN; the sums will not */
    float base = m == -INFINITY ? 0.0f : m; /* no weight yet: s - base must stay -infinity */
    float shrink = expf(to->m - base), weight = expf(s - base);
    to->m = m;
    to->l = to->l * shrink + weight;
    for (int c = 0; c < MINE; c++) to->o[c] *= shrink;
    return weight;
    /* END SOLUTION */
}

/**
 * o += p v: the weights of the row times the lane's columns of the tile.
 * @param v      a tile of values
 * @param weight of key threadIdx.x of the tile
 */
__device__ static void add_values(seen *to, float (*v)[COLS + 1], float weight, unsigned dim)
{
    /* SOLUTION: the weight of each key comes from its lane (about 7 lines). */
    for (int key = 0; key < TILE; key++) {
        float p = __shfl_sync(0xffffffffu, weight, key);
        for (int c = 0; c < MINE; c++) {
            unsigned col = threadIdx.x + 32 * c;
            if (col < dim) to->o[c] += p * v[key][col];
        }
    }
    /* END SOLUTION */
}

/** out and lse of one query, unless it is beyond seq. No key with weight: zeros, and -infinity. */
__device__ static void store(const seen *from, attention a, size_t head, unsigned query)
{
    /* SOLUTION: the sum of all lanes; o / l; m + log l (about 8 lines). */
    float l = warp_sum(from->l);
    if (query >= a.seq) return;
    size_t row = head * a.seq + query;
    if (a.lse != NULL && threadIdx.x == 0) a.lse[row] = from->m + logf(l);
    for (int c = 0; c < MINE; c++) {
        unsigned col = threadIdx.x + 32 * c;
        if (col < a.dim) a.out[row * a.dim + col] = l == 0.0f ? 0.0f : from->o[c] / l;
    }
    /* END SOLUTION */
}

/** A block per 32 queries of a head: of head blockIdx.x % heads, from query 32 (blockIdx.x / heads)
 *  on. Thread (x, y) has query y of the block's, and key x of each tile. */
__global__ static void __launch_bounds__(TILE *TILE) flash_kernel(attention a)
{
    /* SOLUTION: two tiles in shared memory: one of queries, one that holds k and then v. A loop
       over tiles of keys, of which a causal block needs no more than its last query sees. Barriers
       between loading a tile and reading it. In the end, store (about 20 lines). */
    __shared__ float q[TILE][COLS + 1], tile[TILE][COLS + 1];      /* tile: of k, then of v */
    size_t head = blockIdx.x % a.heads, at = head * a.seq * a.dim; /* where its arrays begin */
    unsigned top = blockIdx.x / a.heads * TILE, query = top + threadIdx.y;
    unsigned end = a.causal && top + TILE < a.seq ? top + TILE : a.seq;
    seen sums = {-INFINITY, 0.0f, {0.0f}};
    load_tile(q, a.q + at, top, a);
    for (unsigned start = 0; start < end; start += TILE) {
        load_tile(tile, a.k + at, start, a);
        __syncthreads(); /* k is complete, and so is q */
        float s = score(q[threadIdx.y], tile[threadIdx.x], query, start + threadIdx.x, a);
        float weight = soften(&sums, s);
        __syncthreads(); /* all threads have read k */
        load_tile(tile, a.v + at, start, a);
        __syncthreads(); /* v is complete */
        add_values(&sums, tile, weight, a.dim);
        __syncthreads(); /* all threads have read v */
    }
    store(&sums, a, head, query);
    /* END SOLUTION */
}

cudaError_t attention_flash(float *out, float *lse, const float *q, const float *k, const float *v,
                            int batch, int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    if (dim > COLS) return cudaErrorInvalidValue;
    /* SOLUTION: the kernel's arguments, and its launch; none if there is nothing to compute (about
       5 lines). */
    unsigned all = (unsigned)batch * heads;
    if (all == 0 || seq == 0) return cudaSuccess; /* an empty grid is a launch error */
    unsigned blocks = ((seq - 1) / TILE + 1) * all;
    attention a = {out, lse, q, k, v, all, (unsigned)seq, (unsigned)dim, causal != 0, scale};
    flash_kernel<<<blocks, dim3(TILE, TILE), 0, stream>>>(a);
    /* END SOLUTION */
    return cudaGetLastError();
}
