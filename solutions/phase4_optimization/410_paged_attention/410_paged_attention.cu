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
 * Where token t lies, one lane looks up for all. Keys and values go to shared memory by themselves
 * (cp.async), and those of the next tokens are on their way while these are added. Each lane reads
 * what it has copied itself, so that this takes no barrier either.
 *
 * The cost removed: attention_naive's matrix of scores, and a cache that is read for each query
 * head. The cost left: each multiply-add takes a lane, so that beyond 8 heads a group arithmetic is
 * what takes the time. Tensor cores (4c) do 16 heads for the price of one. The parts lie in a
 * __device__ array, so that two calls on two streams at once would spoil each other's.
 *
 * Given: loads, copies, the sum over a team, which block has what, and the launches. Yours: the
 * walk along the table of pages, the online softmax of a team, and the merging of parts.
 */
#include "410_paged_attention/paged_attention.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
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

#define THREADS  256
#define EACH     8    /* elements of a row that a lane has: 16 bytes */
#define DEPTH    4    /* rows that a team asks for at a time */
#define STAGES   2    /* times DEPTH rows that it has room for */
#define SHORTEST 512  /* tokens of a split: fewer are not worth a part of their own */
#define PARTS    8192 /* of splits, at most */
#define MERGERS  128  /* threads of a block that merges the parts of a row */
#define LOG2_E   1.44269504f

/** Blocks that a multiprocessor holds at once, for so many heads: by shared memory or registers. */
#define RESIDENT(heads) ((heads) == 1 ? 3 : (heads) <= 4 ? 2 : 1)

__device__ static float of_splits[PARTS * (128 + 2)]; /* [sequences x q_heads x splits] parts */

typedef struct __align__(16) piece
{
    unsigned pairs[EACH / 2]; /* of two elements, the first in the lower half */
}
piece;

/** @return the row of a token, or -1: it is beyond the end */
__device__ static int row_of(const cache &c, int sequence, int token, int end)
{
    /* SOLUTION: what a row is stands at `cache`. Entries of the table beyond the context may hold
       anything: do not look at them (about 4 lines). */
    if (token >= end) return -1;
    if (c.table == NULL) return sequence * c.page + token;
    const int page = c.table[(size_t)sequence * c.max_pages + token / c.page];
    return page * c.page + token % c.page;
    /* END SOLUTION */
}

/** 8 elements; zeros of no row. WIDE: they begin at a multiple of 16 bytes. */
template <bool WIDE> __device__ __forceinline__ static piece load(const bf16 *x, bool there)
{
    piece p = {{0, 0, 0, 0}};
    if (!there) return p;
    if (WIDE) {
        const uint4 bits = __ldcs((const uint4 *)x); /* nobody needs them again */
        p = {{bits.x, bits.y, bits.z, bits.w}};
    } else {
        for (int i = 0; i < EACH; i++)
            p.pairs[i / 2] |= (unsigned)__bfloat16_as_ushort(x[i]) << i % 2 * 16;
    }
    return p;
}

/** A bf16 is the upper half of a float. */
__device__ __forceinline__ static void take_apart(float x[EACH], const piece &p)
{
#pragma unroll
    for (int i = 0; i < EACH / 2; i++) {
        x[2 * i] = __uint_as_float(p.pairs[i] << 16);
        x[2 * i + 1] = __uint_as_float(p.pairs[i] & 0xffff0000u);
    }
}

/** Each lane of a team brings a value for each of GROUP heads.
 *  @return the sum over the team for one of the heads: to lane l for head l / (LANES / GROUP) */
template <int GROUP, int LANES>
__device__ __forceinline__ static float over_team(float value[GROUP])
{
    int apart = LANES / 2;
#pragma unroll
    for (int half = GROUP / 2; half > 0; half /= 2, apart /= 2) {
        const bool upper = threadIdx.x & apart;
#pragma unroll
        for (int i = 0; i < half; i++) { /* keep one half of the heads, give the other away */
            const float low = value[i], high = value[i + half], given = upper ? low : high;
            value[i] = (upper ? high : low) + __shfl_xor_sync(0xffffffffu, given, apart);
        }
    }
#pragma unroll
    for (; apart > 0; apart /= 2) value[0] += __shfl_xor_sync(0xffffffffu, value[0], apart);
    return value[0];
}

/** The score of one token. @return as of over_team
 *  @param q, key this lane's 8 elements: of each head's query, and of the token's key */
template <int GROUP, int LANES>
__device__ __forceinline__ static float score(const float q[GROUP][EACH], const piece &key)
{
    float products[GROUP] = {};
    /* SOLUTION: take the key apart; products[h] is the sum over this lane's elements of head h
       (about 8 lines). */
    float k[EACH];
    take_apart(k, key);
#pragma unroll
    for (int h = 0; h < GROUP; h++) {
        products[h] = q[h][0] * k[0];
#pragma unroll
        for (int i = 1; i < EACH; i++) products[h] = fmaf(q[h][i], k[i], products[h]);
    }
    /* END SOLUTION */
    return over_team<GROUP, LANES>(products);
}

/** What a team has seen. Lane l has the largest score and the sum of weights of one head, as in
 *  over_team, and the weighted sums of its own 8 columns for all heads. */
template <int GROUP> struct seen {
    float largest, weights; /* of the lane's head; scores are logarithms to the base 2 */
    float sums[GROUP][EACH];
};

/** DEPTH tokens more.
 *  @param scores of the lane's head; -infinity of a token that is not there
 *  @param values this lane's 8 elements of each token's value */
template <int GROUP, int LANES>
__device__ __forceinline__ static void add(seen<GROUP> *s, float scores[DEPTH],
                                           const piece values[DEPTH])
{
    /* SOLUTION: the online softmax. Find the new largest score; exp2f(old - new) is by how much
       weights and sums shrink, and exp2f(score - new) is the weight of a token. A lane has both for
       its own head alone: for sums[h] fetch them from lane h * (LANES / GROUP) of the team, by a
       __shfl_sync of width LANES (about 28 lines). */
    float largest = s->largest;
#pragma unroll
    for (int u = 0; u < DEPTH; u++) largest = fmaxf(largest, scores[u]);
    const float shrink = exp2f(s->largest - largest);
    s->largest = largest;
    s->weights *= shrink;
#pragma unroll
    for (int u = 0; u < DEPTH; u++) {
        scores[u] = exp2f(scores[u] - largest); /* a weight from here on */
        s->weights += scores[u];
    }
#pragma unroll
    for (int h = 0; h < GROUP; h++) {
        const float by = __shfl_sync(0xffffffffu, shrink, h * (LANES / GROUP), LANES);
#pragma unroll
        for (int i = 0; i < EACH; i++) s->sums[h][i] *= by;
    }
#pragma unroll
    for (int u = 0; u < DEPTH; u++) {
        float v[EACH];
        take_apart(v, values[u]);
#pragma unroll
        for (int h = 0; h < GROUP; h++) {
            const float p = __shfl_sync(0xffffffffu, scores[u], h * (LANES / GROUP), LANES);
#pragma unroll
            for (int i = 0; i < EACH; i++) s->sums[h][i] = fmaf(p, v[i], s->sums[h][i]);
        }
    }
    /* END SOLUTION */
}

/* A part, of a team or of a split, is dim sums, then the largest score, then the sum of weights. */
typedef struct merged {
    float sum, largest, weights;
} merged;

/** Several parts as one, for one column.
 *  @param parts `count` of them, `pitch` floats apart, of `dim` columns each */
__device__ static merged merge(const float *parts, int count, size_t pitch, int dim, int column)
{
    merged m = {0.0f, -FLT_MAX, 0.0f};
    /* SOLUTION: find the largest score of all; sums and weights of each part are brought to it by
       exp2f(its own - the largest), and added (about 6 lines). */
#pragma unroll 8 /* loads on their way at once */
    for (int i = 0; i < count; i++) m.largest = fmaxf(m.largest, parts[i * pitch + dim]);
#pragma unroll 8
    for (int i = 0; i < count; i++) {
        const float by = exp2f(parts[i * pitch + dim] - m.largest);
        m.sum += by * parts[i * pitch + column];
        m.weights += by * parts[i * pitch + dim + 1];
    }
    /* END SOLUTION */
    return m;
}

/** The weighted mean; 0 where there was no token. */
__device__ static bf16 divided(merged m)
{
    /* SOLUTION: sum / weights, to bf16 (about 1 line). */
    return __float2bfloat16(m.weights == 0.0f ? 0.0f : m.sum / m.weights);
    /* END SOLUTION */
}

/** What a block does: a stretch of a context, for a few heads. */
typedef struct task {
    int sequence, split, kv_head, head, heads; /* query heads: from `head` on, so many */
    int begin, end;                            /* tokens */
} task;

/** Neighbours in the grid are neighbours in memory: heads of the cache run fastest. */
template <int GROUP> __device__ static task task_of(const cache &c, int q_heads, int splits)
{
    const int group = q_heads / c.kv_heads, groups = (group - 1) / GROUP + 1;
    unsigned number = blockIdx.x;
    task t;
    t.kv_head = number % c.kv_heads, number /= c.kv_heads;
    const int first = number % groups * GROUP;
    number /= groups;
    t.split = number % splits, t.sequence = number / splits;
    t.head = t.kv_head * group + first;
    t.heads = min(GROUP, group - first);

    const int length = c.lengths[t.sequence];
    const int tokens = max(SHORTEST, (length - 1) / splits + 1);
    t.begin = min((long)t.split * tokens, (long)length);
    t.end = min((long)t.begin + tokens, (long)length);
    return t;
}

/** A block's shared memory: the queries of its heads; then what its lanes ask for, a key and a
 * value each, and at the end the parts of its teams in the same place. */
template <int GROUP, int LANES> struct block_memory {
    piece queries[GROUP][LANES];
    union {
        piece asked[STAGES][DEPTH][2][THREADS];
        float parts[THREADS / LANES][GROUP][LANES * EACH + 2];
    };
};

/** Columns of keys and values that belong to a lane, in row 0 of the cache, and how far apart rows
 *  are; `there`: the lane has columns. */
typedef struct columns {
    const bf16 *k, *v;
    int pitch;
    bool there;
} columns;

template <int LANES> __device__ static columns columns_of(const cache &c, int kv_head)
{
    const int first = threadIdx.x % LANES * EACH;
    const size_t offset = (size_t)kv_head * c.dim + first;
    return {c.k + offset, c.v + offset, c.kv_heads * c.dim, first < c.dim};
}

/** 8 elements, or zeros, on their way to shared memory. */
template <bool WIDE>
__device__ __forceinline__ static void copy(piece *to, const bf16 *x, bool there)
{
    if (WIDE && there)
        __pipeline_memcpy_async(to, x, sizeof *to);
    else
        *to = load<WIDE>(x, there);
}

/** Asks for keys and values of a warp's next tokens: each lane looks one up, and tells the team
 *  whose it is. @param token the warp's first */
template <int LANES, bool WIDE>
__device__ __forceinline__ static void ask(piece to[DEPTH][2][THREADS], const columns &l,
                                           const cache &c, const task &t, int token)
{
    enum { TEAMS = 32 / LANES };
    const int lane = threadIdx.x % 32;
    const int row = lane < TEAMS * DEPTH ? row_of(c, t.sequence, token + lane, t.end) : -1;
#pragma unroll
    for (int u = 0; u < DEPTH; u++) {
        const long mine = __shfl_sync(0xffffffffu, row, u * TEAMS + lane / LANES);
        copy<WIDE>(&to[u][0][threadIdx.x], l.k + mine * l.pitch, l.there && mine >= 0);
        copy<WIDE>(&to[u][1][threadIdx.x], l.v + mine * l.pitch, l.there && mine >= 0);
    }
    __pipeline_commit(); /* even of nothing: see_all counts these */
}

/** All of this team's share of the block's stretch: a warp takes TOKENS tokens at a time, and then
 *  those that are STEP further on. What it asked for i-th lies in asked[i % STAGES]. */
template <int GROUP, int LANES, bool WIDE>
__device__ __forceinline__ static void see_all(seen<GROUP> *s, block_memory<GROUP, LANES> *memory,
                                               const bf16 *queries, float scale, const cache &c,
                                               const task &t)
{
    enum { TOKENS = 32 / LANES * DEPTH, STEP = THREADS / 32 * TOKENS };
    auto *asked = memory->asked;
    const columns l = columns_of<LANES>(c, t.kv_head);
    const int first = threadIdx.x % 32 / LANES; /* token of this team, of those of a row u */
    const int head = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const piece mine = load<WIDE>(queries + head * c.dim + lane * EACH, head < t.heads && l.there);
    int token = t.begin + threadIdx.x / 32 * TOKENS;
    for (int i = 0; i < STAGES - 1 && token < t.end; i++)
        ask<LANES, WIDE>(asked[i], l, c, t, token + i * STEP);
    if (head < GROUP) memory->queries[head][lane] = mine; /* all threads together have them all */
    __syncthreads();
    if (token >= t.end) return; /* a short stretch has nothing for this warp */
    float q[GROUP][EACH];
#pragma unroll
    for (int h = 0; h < GROUP; h++) {
        take_apart(q[h], memory->queries[h][lane]);
#pragma unroll
        for (int i = 0; i < EACH; i++) q[h][i] *= scale * LOG2_E;
    }
    /* SOLUTION: as long as there are tokens: ask for those that are STAGES - 1 steps further on,
       and wait until all but the last STAGES - 1 that you asked for have come. The score of a token
       beyond t.end is -infinity, of others `score`; it has shuffles, so every lane calls it for
       every token and chooses afterwards. Then add (about 14 lines). */
    for (int i = 0; token < t.end; i++, token += STEP) {
        float scores[DEPTH];
        piece values[DEPTH];
        ask<LANES, WIDE>(asked[(i + STAGES - 1) % STAGES], l, c, t, token + (STAGES - 1) * STEP);
        __pipeline_wait_prior(STAGES - 1);
#pragma unroll
        for (int u = 0; u < DEPTH; u++) {
            const float sum = score<GROUP, LANES>(q, asked[i % STAGES][u][0][threadIdx.x]);
            scores[u] = token + u * (32 / LANES) + first < t.end ? sum : -INFINITY;
            values[u] = asked[i % STAGES][u][1][threadIdx.x];
        }
        add<GROUP, LANES>(s, scores, values);
    }
    /* END SOLUTION */
    __pipeline_wait_prior(0); /* what was asked for beyond the end */
}

/** A block per split of a context, head of the cache and up to GROUP query heads.
 *  @param out   [sequences x q_heads x dim], if there is one split
 *  @param parts [sequences x q_heads x splits x (dim + 2)], if there are more */
template <int GROUP, int LANES, bool WIDE>
__global__ static void __launch_bounds__(THREADS, RESIDENT(GROUP))
    decode_kernel(bf16 *out, float *parts, const bf16 *queries, cache c, int q_heads, int splits,
                  float scale)
{
    enum { TEAMS = THREADS / LANES, SHARE = LANES / GROUP };
    extern __shared__ uint4 shared[];
    auto *memory = (block_memory<GROUP, LANES> *)shared;
    auto *of_team = memory->parts;
    const task t = task_of<GROUP>(c, q_heads, splits);
    const int team = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const size_t row = (size_t)t.sequence * q_heads + t.head; /* of queries and of out */
    seen<GROUP> s = {-FLT_MAX, 0.0f, {}}; /* not -infinity: less itself, that would be NaN */
    see_all<GROUP, LANES, WIDE>(&s, memory, queries + row * c.dim, scale, c, t);
    __syncthreads(); /* from here on the parts lie where keys and values did */
    /* SOLUTION: store the team's part of each head, of LANES * EACH columns. Lane l has 8 columns
       of all heads, and largest and weights of head l / SHARE. After a barrier each thread takes
       elements of t.heads x c.dim, and merges the teams' parts; a team without a token has a part
       of weight 0. With one split the result goes to out, divided; with more it is a part of c.dim
       columns in parts (about 21 lines). */
#pragma unroll
    for (int h = 0; h < GROUP; h++) {
#pragma unroll
        for (int i = 0; i < EACH; i++) of_team[team][h][lane * EACH + i] = s.sums[h][i];
    }
    of_team[team][lane / SHARE][LANES * EACH] = s.largest;
    of_team[team][lane / SHARE][LANES * EACH + 1] = s.weights;
    __syncthreads(); /* all teams' parts are complete */

    for (int i = threadIdx.x; i < t.heads * c.dim; i += THREADS) {
        const int h = i / c.dim, column = i % c.dim;
        const int teams = min(TEAMS, t.end - t.begin); /* others have seen no token */
        const merged m =
            merge(of_team[0][h], teams, sizeof of_team[0] / sizeof(float), LANES * EACH, column);
        if (splits == 1) {
            out[row * c.dim + i] = divided(m);
            continue;
        }
        float *part = parts + ((row + h) * splits + t.split) * (c.dim + 2);
        part[column] = m.sum;
        if (column == 0) part[c.dim] = m.largest, part[c.dim + 1] = m.weights;
    }
    /* END SOLUTION */
}

/** A block per query head. @param parts as of decode_kernel */
__global__ static void merge_kernel(bf16 *out, const float *parts, int splits, int dim)
{
    /* SOLUTION: merge the splits of each column of row blockIdx.x, and divide (about 3 lines). */
    const size_t row = blockIdx.x, pitch = dim + 2;
    for (int i = threadIdx.x; i < dim; i += MERGERS)
        out[row * dim + i] = divided(merge(parts + row * splits * pitch, splits, pitch, dim, i));
    /* END SOLUTION */
}

/* ---- the launches: given ---- */

template <int GROUP, int LANES>
static cudaError_t launch_wide(unsigned blocks, bf16 *out, float *parts, const bf16 *q,
                               const cache &c, int q_heads, int splits, float scale,
                               cudaStream_t stream)
{
    const bool wide = ((uintptr_t)q | (uintptr_t)c.k | (uintptr_t)c.v) % 16 == 0;
    auto *kernel = wide ? decode_kernel<GROUP, LANES, true> : decode_kernel<GROUP, LANES, false>;
    const int bytes = sizeof(block_memory<GROUP, LANES>);
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return error;
    kernel<<<blocks, THREADS, bytes, stream>>>(out, parts, q, c, q_heads, splits, scale);
    return cudaGetLastError();
}

template <int GROUP>
static cudaError_t launch(unsigned blocks, bf16 *out, float *parts, const bf16 *q, const cache &c,
                          int q_heads, int splits, float scale, cudaStream_t stream)
{
    if (c.dim <= 8 * EACH)
        return launch_wide<GROUP, 8>(blocks, out, parts, q, c, q_heads, splits, scale, stream);
    return launch_wide<GROUP, 16>(blocks, out, parts, q, c, q_heads, splits, scale, stream);
}

/** As many splits as run at once: a second wave that is not full would leave most multiprocessors
 *  idle. @return those that are long enough and whose parts have room, or 0: the device cannot be
 *  asked @param rows sequences * q_heads */
static int splits_of(size_t blocks, int resident, size_t rows, size_t room)
{
    int device = 0, processors = 0;
    if (cudaGetDevice(&device) != cudaSuccess) return 0;
    if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return 0;
    const size_t at_once = (size_t)resident * processors / blocks;
    const size_t most = (room + SHORTEST - 1) / SHORTEST;
    size_t splits = at_once < most ? at_once : most;
    if (splits > PARTS / rows) splits = PARTS / rows;
    return splits > 1 ? (int)splits : 1;
}

/** Both functions: how many splits, and the kernels. */
static cudaError_t decode(bf16 *out, const bf16 *q, const cache &c, int sequences, int q_heads,
                          float scale, cudaStream_t stream)
{
    if (sequences == 0 || q_heads == 0 || c.dim == 0) return cudaSuccess;
    const int group = q_heads / c.kv_heads, GROUP = group == 1 ? 1 : group <= 4 ? 4 : 8;
    const size_t rows = (size_t)sequences * q_heads;
    const size_t blocks = (size_t)sequences * c.kv_heads * ((group - 1) / GROUP + 1);
    const int splits = splits_of(blocks, RESIDENT(GROUP), rows, (size_t)c.page * c.max_pages);
    if (splits == 0) return cudaGetLastError();
    float *parts = NULL;
    cudaError_t error = cudaSuccess;
    if (splits > 1) error = cudaGetSymbolAddress((void **)&parts, of_splits);
    if (error != cudaSuccess) return error;
    const auto launch_group = GROUP == 1 ? launch<1> : GROUP == 4 ? launch<4> : launch<8>;
    error =
        launch_group((unsigned)(blocks * splits), out, parts, q, c, q_heads, splits, scale, stream);
    if (error != cudaSuccess || splits == 1) return error;
    merge_kernel<<<(unsigned)rows, MERGERS, 0, stream>>>(out, parts, splits, c.dim);
    return cudaGetLastError();
}

static bool are_sizes(int sequences, int q_heads, int kv_heads, int dim)
{
    if (sequences < 0 || q_heads < 0 || kv_heads < 0 || dim < 0) return false;
    return dim % EACH == 0 && dim <= 128 && (kv_heads > 0 ? q_heads % kv_heads == 0 : q_heads == 0);
}

cudaError_t multi_query_attention(bf16 *out, const bf16 *q, const bf16 *k, const bf16 *v,
                                  const int *context_lengths, int sequences, int q_heads,
                                  int kv_heads, int max_context, int dim, float scale,
                                  cudaStream_t stream)
{
    /* SOLUTION: refuse what paged_attention.h refuses; then decode, of a cache without a table: a
       sequence has one page of max_context tokens (about 5 lines). */
    if (!are_sizes(sequences, q_heads, kv_heads, dim) || max_context < 0)
        return cudaErrorInvalidValue;
    const cache c = {k, v, NULL, context_lengths, max_context, 1, kv_heads, dim};
    const cudaError_t error = decode(out, q, c, sequences, q_heads, scale, stream);
    if (error != cudaSuccess) return error;
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t attention_paged(bf16 *out, const bf16 *q, const bf16 *k_pool, const bf16 *v_pool,
                            const int *block_table, const int *context_lengths, int sequences,
                            int q_heads, int kv_heads, int page, int max_pages, int dim,
                            float scale, cudaStream_t stream)
{
    /* SOLUTION: the same, of a cache with the table (about 5 lines). */
    if (!are_sizes(sequences, q_heads, kv_heads, dim) || page < 1 || max_pages < 0)
        return cudaErrorInvalidValue;
    const cache c = {k_pool, v_pool, block_table, context_lengths, page, max_pages, kv_heads, dim};
    const cudaError_t error = decode(out, q, c, sequences, q_heads, scale, stream);
    if (error != cudaSuccess) return error;
    /* END SOLUTION */
    return cudaGetLastError();
}
