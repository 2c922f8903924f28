/*
 * 410_paged_attention.cu: one new token per sequence attends to a cache of keys and values, which
 * lies in rows of its own or in pages.
 *
 * The idea: decoding reads the whole cache once and does next to nothing with it. So each key and
 * value is to be read once, by enough blocks at a time.
 *
 *     group     all query heads that share a head of the cache belong to one block: what it loads,
 *               it uses up to 8 times
 *     split     a context is cut among several blocks; each leaves its sums, its largest score and
 *               its sum of weights as a *part*, and a small second kernel merges the parts
 *     team      a row of dim bf16 belongs to 8 or 16 lanes, 16 bytes each; a team of lanes takes
 *               every so many-th token and keeps a softmax of its own: no barrier until the end
 *
 *     sequence, head of the cache      |------------------ context ------------------|
 *     blocks                           |---- split 0 ----|---- split 1 ----|-- 2 ----|
 *     teams of a block                 01234567 01234567 ...
 *
 * Teams, and then splits, are merged in the same way: weights are relative to the largest score
 * that a part has seen, and sums with different ones are brought to the same.
 *
 * Where token t lies, one lane looks up for all; the keys of the next tokens are on their way while
 * the values of these are added.
 *
 * The cost removed: attention_naive's matrix of scores, and a cache that is read for each query
 * head. The cost left: each multiply-add takes a lane, so that beyond 8 heads a group arithmetic is
 * what takes the time. Tensor cores (4c) do 16 heads for the price of one.
 */
#include "410_paged_attention/paged_attention.h"
#include "not_implemented.h"
#include <cuda_bf16.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

typedef __nv_bfloat16 bf16;

/** Token t of sequence s is row table[s][t / page] * page + t % page of [kv_heads x dim]; without a
 *  table a sequence has one page, its own. */
typedef struct cache {
    const bf16 *k, *v;
    const int *table, *lengths; /* [sequences x max_pages] or NULL, [sequences] */
    int page, max_pages, kv_heads, dim;
} cache;

/* TODO: sizes; the row of a token; 8 elements of a row, loaded and taken apart (about 40
   lines). */

/* TODO: the score of one token: each lane of a team has GROUP products of its 8 elements, and
   gets the sum over the team for one of the heads: lane l for head l / (LANES / GROUP) (about 30
   lines). */

/* TODO: what a team has seen: one head's largest score and sum of weights a lane, and all
   heads' weighted sums of its 8 columns; and DEPTH tokens more (about 40 lines). */

/* TODO: a part is dim sums, the largest score and the sum of weights; and the merging of
   several, for one column (about 20 lines). */

/* TODO: decode_kernel: a block per split of a context, head of the cache and GROUP query heads;
   merge_kernel: a block per query head (about 125 lines). */

/* TODO: the launches: how many splits, scratch for their parts, the kernel for the group, the
   width of a row and its alignment (about 60 lines). */

cudaError_t multi_query_attention(bf16 *out, const bf16 *q, const bf16 *k, const bf16 *v,
                                  const int *context_lengths, int sequences, int q_heads,
                                  int kv_heads, int max_context, int dim, float scale,
                                  cudaStream_t stream)
{
    /* TODO: a cache without a table (about 5 lines). */
    NOT_IMPLEMENTED(out, q, k, v, context_lengths, sequences, q_heads, kv_heads, max_context, dim,
                    scale, stream);
    return cudaGetLastError();
}

cudaError_t attention_paged(bf16 *out, const bf16 *q, const bf16 *k_pool, const bf16 *v_pool,
                            const int *block_table, const int *context_lengths, int sequences,
                            int q_heads, int kv_heads, int page, int max_pages, int dim,
                            float scale, cudaStream_t stream)
{
    /* TODO: the same with one (about 5 lines). */
    NOT_IMPLEMENTED(out, q, k_pool, v_pool, block_table, context_lengths, sequences, q_heads,
                    kv_heads, page, max_pages, dim, scale, stream);
    return cudaGetLastError();
}
