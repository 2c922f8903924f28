/*
 * 4i_flash_attention3.cu: attention in bf16 on Hopper's units: the TMA fetches, wgmma multiplies,
 * and the exponentials of one group of threads run during the products of another.
 *
 * The mathematics is 4c's. The division of labour is 4b's. A block has a *producer* (one thread),
 * which asks the TMA for tiles, and three *consumer* groups of 128 threads with 64 queries each.
 * All groups use the same tiles of keys and values. These pass through one ring, in the order in
 * which they are used:
 *
 *     k_n  k_n-1 v_n  k_n-2 v_n-1  ...  k_0 v_1  v_0
 *
 * Three things keep the tensor cores busy.
 *
 * 1. A group begins its next scores before its present sums, then computes the softmax of those
 *    scores while the sums are still under way.
 * 2. The groups take turns. A group that has begun its products lets the next one begin, and has
 *    time for its softmax until its next turn. Without turns, all groups compute exponentials at
 *    the same time, and then all wait for the tensor cores.
 * 3. Blocks are persistent: the producer fetches the first tiles of the next piece of work during
 *    the last products of this one.
 *
 * Weights never leave registers: two products of scores side by side, as wgmma leaves them, are its
 * operand a, once they are rounded to bf16. v is turned by its descriptor.
 *
 * Three groups leave a thread 160 registers. For dim 128: 64 sums, 40 scores, 20 words of weights,
 * which the sums under way still read. That is why a tile has 80 keys. For dim 64 it has 128: 32
 * sums, 64 scores, 32 words of weights.
 *
 * Only for compute capability 9.0. Other GPUs, misaligned arrays, and a scale that is not positive
 * go to 4c.
 *
 * The cost removed: operands that pass through registers, and exponentials for which tensor cores
 * wait. The cost left: the first and the last step of each piece of work, in which nothing overlaps;
 * at dim 64 the exponentials, which take as many clocks as the products.
 */
#include "4c_flash_attention2/flash_attention2.h"
#include "4i_flash_attention3/flash_attention3.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include "tma.h"
#include "wgmma.h"
#include <cuda_bf16.h>
#include <float.h>
#include <math.h>

typedef __nv_bfloat16 bf16;

#define ROW     128  /* bytes of a row of a box: 64 elements, which the swizzle permutes */
#define ALIGNED 1024 /* the swizzle's pattern repeats every 8 rows */
#define LOG2_E  1.4426950408889634f
#define LN_2    0.6931471805599453f

template <int DIM> struct sizes {
    enum {
        GROUPS = 3, /* that consume, with 64 queries each */
        QUERIES = GROUPS * 64,
        KEYS = DIM == 64 ? 128 : 80,
        THREADS = 128 * (1 + GROUPS), /* the first group produces */
        SLOTS = 8,                    /* of the ring */
        Q_BYTES = QUERIES * DIM * 2,
        TILE = KEYS * DIM * 2,
        SHARED = ALIGNED + Q_BYTES + SLOTS * TILE + (2 * SLOTS + 2) * 8
    };
};

#if ON_HOPPER

/** Where a producer or a consumer is in the ring; all are shared addresses. */
template <int DIM> struct place {
    typedef sizes<DIM> S;
    uint32_t q;       /* DIM / 64 boxes of [QUERIES x 64]; then the ring, then the mbarriers */
    int slot, parity; /* the parity flips each time round */

    __device__ uint32_t tile() const /* DIM / 64 boxes of [KEYS x 64] */
    {
        return q + S::Q_BYTES + slot * S::TILE;
    }
    __device__ uint32_t full() const
    {
        return q + S::Q_BYTES + S::SLOTS * S::TILE + slot * 8;
    }
    __device__ uint32_t empty() const
    {
        return full() + S::SLOTS * 8;
    }
    __device__ uint32_t q_full() const
    {
        return q + S::Q_BYTES + S::SLOTS * S::TILE + 2 * S::SLOTS * 8;
    }
    __device__ uint32_t q_empty() const
    {
        return q_full() + 8;
    }
    __device__ void next()
    {
        slot = slot + 1 == S::SLOTS ? 0 : slot + 1;
        parity ^= slot == 0;
    }
};

/**
 * Which queries a block has in its round 0, 1, ... With a mask, the longest pieces of work of all
 * heads come first. Without one all are as long, and those of a head, which read the same keys, are
 * neighbours. Every other round runs backwards: who had the longest has the shortest next.
 */
struct work {
    int head, query; /* the first of QUERIES */
    int tiles;       /* of keys that they see */

    template <int DIM>
    __device__ __forceinline__ bool find(int round, int heads, int seq, bool causal)
    {
        const int blocks = (seq - 1) / sizes<DIM>::QUERIES + 1;
        const int turn = round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
        const int number = round * gridDim.x + turn;
        head = causal ? number % heads : number / blocks;
        query = (blocks - 1 - (causal ? number / heads : number % blocks)) * sizes<DIM>::QUERIES;
        tiles = ((causal ? min(query + sizes<DIM>::QUERIES, seq) : seq) - 1) / sizes<DIM>::KEYS + 1;
        return number < heads * blocks;
    }
};

/* ---- the producer ---------------------------------------------------------------------------- */

/** By one thread: fill the mbarriers with what they wait for. */
template <int DIM> __device__ static void begin(place<DIM> at)
{
    for (at.slot = 0; at.slot < sizes<DIM>::SLOTS; at.slot++) {
        barrier_init(at.full(), 1);
        barrier_init(at.empty(), sizes<DIM>::GROUPS);
    }
    barrier_init(at.q_full(), 1);
    barrier_init(at.q_empty(), sizes<DIM>::GROUPS);
    fence_barriers();
}

/** By one thread: fetch tile `tile` of the keys or values of a head to `at`, and go on. */
template <int DIM>
__device__ __forceinline__ static void fetch(place<DIM> &at, const CUtensorMap *x, int head,
                                             int tile)
{
    /* TODO: wait until the slot is empty, expect the bytes, ask for a box for each 64 columns
       (about 6 lines). */
}

template <int DIM>
__device__ static void produce(place<DIM> at, const CUtensorMap *q, const CUtensorMap *k,
                               const CUtensorMap *v, int heads, int seq, bool causal)
{
    work w;
    at.parity = 1; /* before its first phase, a barrier says that 1 is over */
    for (int round = 0; w.find<DIM>(round, heads, seq, causal); round++) {
        /* TODO: the last keys; the queries, when those of the round before have been read; then
           the keys of a tile before the values of the one behind it (about 10 lines). */
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* Of the width that the sums have. */
__device__ __forceinline__ static void multiply(float (&s)[10][4], uint64_t q, uint64_t k, bool add)
{
    wgmma_bf16_n80<0>(s, q, k, add);
}

__device__ __forceinline__ static void multiply(float (&s)[16][4], uint64_t q, uint64_t k, bool add)
{
    wgmma_bf16_n128<0>(s, q, k, add);
}

__device__ __forceinline__ static void multiply(float (&sum)[8][4], const uint32_t p[4], uint64_t v)
{
    wgmma_bf16_n64<1>(sum, p, v, true);
}

__device__ __forceinline__ static void multiply(float (&sum)[16][4], const uint32_t p[4],
                                                uint64_t v)
{
    wgmma_bf16_n128<1>(sum, p, v, true);
}

/** Begin s = q k^T, of the group's 64 queries at `q` and the keys at `k`, as one group of products.
 */
template <int DIM, int N>
__device__ __forceinline__ static void begin_scores(float (&s)[N][4], uint32_t q, uint32_t k)
{
    /* TODO: a product for each 16 columns: 32 bytes further, and after 64 columns in the next
       box; the first one replaces what is in s (about 7 lines). */
}

/** Begin sum += p v, of the group's weights of 16 * N keys and the values at `v`, as one group of
 *  products. */
template <int WIDTH, int N>
__device__ __forceinline__ static void begin_sums(float (&sum)[WIDTH][4], const uint32_t (&p)[N][4],
                                                  uint32_t v)
{
    /* TODO: a product for each 16 keys, which are 16 rows of v; columns of v from 64 on are in
       the next box (about 4 lines). */
}

/** The compiler moves no arithmetic with these sums across it: after wait_for_products it keeps
 * them from being read too early, before fence_sums from being written too late. */
template <int N> __device__ __forceinline__ static void arrived(float (&sum)[N][4])
{
#pragma unroll
    for (int i = 0; i < 4 * N; i++) asm volatile("" : "+f"(sum[i / 4][i % 4])::"memory");
}

/* ---- the softmax ----------------------------------------------------------------------------- */

/** Of a lane's rows l / 4 and l / 4 + 8. high: what weights are relative to, in base 2. sum: of
 *  this lane's weights. factor: by which the last rise of high scales out. */
struct softmax {
    float high[2], sum[2], factor[2];
};

/** 2^x by the unit that has it; 0 for -infinity. */
__device__ __forceinline__ static float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/** How many keys a query sees. */
__device__ __forceinline__ static int visible(int query, int seq, bool causal)
{
    return causal ? min(query + 1, seq) : seq;
}

/** Scores of a warp's queries `query`, ... and of keys `key`, ...: -infinity where the key is not
 *  seen. */
template <int N>
__device__ __forceinline__ static void mask(float (&s)[N][4], int query, int key, int seq,
                                            bool causal)
{
    const int lane = threadIdx.x % 32;
    if (key + 8 * N <= visible(query, seq, causal)) return; /* the first query sees all of them */
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int count = visible(query + r * 8 + lane / 4, seq, causal) - key - lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < N; j++) {
            if (j * 8 >= count) s[j][r * 2] = -INFINITY;
            if (j * 8 + 1 >= count) s[j][r * 2 + 1] = -INFINITY;
        }
    }
}

/** Raise high to the row's largest score, of rows where that exceeds it by 8; scale the sum.
 *  @param top this lane's largest scores, in base 2 */
__device__ __forceinline__ static void raise(softmax &rows, const float top[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float high = fmaxf(top[r], __shfl_xor_sync(0xffffffffu, top[r], 1));
        high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 2));
        if (!(high > rows.high[r] + 8.0f)) high = rows.high[r];
        rows.factor[r] = exp2_fast(rows.high[r] - high);
        rows.high[r] = high, rows.sum[r] *= rows.factor[r];
    }
}

/** Scores become weights: s = 2^(scale s - high). @param scale positive
 *  @return did high rise? Then out has to be scaled by rows.factor. */
template <int N>
__device__ __forceinline__ static bool weigh(float (&s)[N][4], softmax &rows, float scale)
{
    /* TODO: the lane's largest scores; raise if a lane's exceeds high by 8; the weights, by one
       multiply-add and exp2_fast each; their sums (about 17 lines). */
    return {};
}

__device__ __forceinline__ static uint32_t rounded(float x, float y)
{
    const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
    return *(const uint32_t *)&both;
}

/** Weights become operand a of 16 keys each; tensor_core.h draws both. */
template <int N>
__device__ __forceinline__ static void pack(uint32_t (&p)[N][4], const float (&s)[2 * N][4])
{
#pragma unroll
    for (int i = 0; i < 4 * N; i++) {
        const float *two = &s[i / 2][i % 2 * 2];
        p[i / 4][i % 4] = rounded(two[0], two[1]);
    }
}

/** Store a warp's rows of out and lse, from `query` on, those that exist. */
template <int WIDTH>
__device__ __forceinline__ static void store(bf16 *out, float *lse, const float (&sum)[WIDTH][4],
                                             const softmax &rows, int query, int seq)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float all = rows.sum[r];
        all += __shfl_xor_sync(0xffffffffu, all, 1);
        all += __shfl_xor_sync(0xffffffffu, all, 2);
        const float factor = all == 0.0f ? 0.0f : 1.0f / all; /* zeros where nothing has weight */
        const int row = query + r * 8 + lane / 4;
        if (row >= seq) continue;
        if (lse && lane % 4 == 0) lse[row] = (rows.high[r] + log2f(all)) * LN_2;
        uint32_t *to = (uint32_t *)&out[(size_t)row * WIDTH * 8 + lane % 4 * 2];
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            to[j * 4] = rounded(sum[j][r * 2] * factor, sum[j][r * 2 + 1] * factor);
    }
}

/* ---- the consumers --------------------------------------------------------------------------- */

/** One thread of a group says that the group has read what this mbarrier guards. */
__device__ __forceinline__ static void give_back(uint32_t barrier)
{
    if (threadIdx.x % 128 == 0) barrier_arrive(barrier);
}

/** Groups ask for products in turn: 0, 1, ..., 0, 1, ... Barrier 1 + group has two groups. */
__device__ __forceinline__ static void wait_for_turn(int group)
{
    group_sync(1 + group, 256);
}

template <int DIM> __device__ __forceinline__ static void end_turn(int group)
{
    group_arrive(1 + (group + 1) % sizes<DIM>::GROUPS, 256);
}

/** What a thread of a group has to do. Invariant between the functions below: the tile at `at` is
 *  full, and p are the weights of the last tile of keys. */
template <int DIM> struct task {
    enum { KEYS = sizes<DIM>::KEYS };
    place<DIM> at;
    uint32_t q;     /* the group's rows of the queries' first box */
    int group, seq; /* seq: keys in all */
    bool causal;
    float scale; /* log2(e) included */
    int query;   /* the warp's first */
    float sum[DIM / 8][4], s[KEYS / 8][4];
    uint32_t p[KEYS / 16][4];
    softmax rows;
};

/** The first step: the weights of tile `tile`, the last one. */
template <int DIM> __device__ __forceinline__ static void begin_weights(task<DIM> &t, int tile)
{
    /* TODO: wait for the keys; in this group's turn begin the scores; wait for them, give the
       keys back, mask, weigh, pack; wait for the next tile (about 13 lines). */
}

/** The scores of tile `tile` and the sums of the tile behind it; then weights from the scores. */
template <int DIM> __device__ __forceinline__ static void step(task<DIM> &t, int tile)
{
    /* TODO: in this group's turn begin both. When the scores are there give the keys back, mask
       and weigh, and wait for the next tile. When the sums are there give the values back, scale
       the sums where high rose, and pack (about 25 lines). */
}

/** The last step: the sums of tile 0. */
template <int DIM> __device__ __forceinline__ static void end_sums(task<DIM> &t)
{
    give_back(t.at.q_empty());
    fence_sums();
    begin_sums(t.sum, t.p, t.at.tile());
    wait_for_products<0>();
    arrived(t.sum);
    give_back(t.at.empty());
    t.at.next();
}

template <int DIM>
__device__ static void consume(bf16 *out, float *lse, const place<DIM> &first, int heads, int seq,
                               bool causal, float scale)
{
    const int group = threadIdx.x / 128 - 1;
    task<DIM> t = {first, first.q + group * 64 * ROW, group, seq, causal, scale};
    work w;
    if (group == sizes<DIM>::GROUPS - 1) end_turn<DIM>(group); /* group 0 begins */
    for (int round = 0; w.find<DIM>(round, heads, seq, causal); round++) {
        t.query = w.query + (threadIdx.x / 32 - 4) * 16;
        t.rows = {{-FLT_MAX, -FLT_MAX}, {}, {}};
#pragma unroll
        for (int i = 0; i < DIM / 2; i++) t.sum[i / 4][i % 4] = 0.0f;
        barrier_wait(t.at.q_full(), round % 2);
        begin_weights(t, w.tiles - 1);
#pragma unroll 1
        for (int tile = w.tiles - 2; tile >= 0; tile--) step(t, tile);
        end_sums(t);
        const size_t head = (size_t)w.head * seq;
        store(out + head * DIM, lse ? lse + head : NULL, t.sum, t.rows, t.query, seq);
    }
    if (group == 0) wait_for_turn(group); /* of the turn that ended last */
}

#endif

#if TENSOR_MAPS

/** @param scale log2(e) included */
template <int DIM>
__global__ static void __launch_bounds__(sizes<DIM>::THREADS, 1)
    attention_flash3_kernel(bf16 *out, float *lse, const __grid_constant__ CUtensorMap q,
                            const __grid_constant__ CUtensorMap k,
                            const __grid_constant__ CUtensorMap v, int heads, int seq, bool causal,
                            float scale)
{
#if ON_HOPPER
    extern __shared__ unsigned char shared[];
    const place<DIM> first = {(shared_address(shared) + ALIGNED - 1) / ALIGNED * ALIGNED, 0, 0};
    /* TODO: begin the mbarriers; each group goes to its work, with 32 or 160 registers (about
       9 lines). */
#endif
}

template <int DIM>
static cudaError_t launch(bf16 *out, float *lse, const bf16 *q, const bf16 *k, const bf16 *v,
                          int heads, int seq, bool causal, float scale, int multiprocessors,
                          cudaStream_t stream)
{
    /* TODO: describe q, k and v as planes of [seq x DIM], so that no box reaches into the next
       head; a block for each multiprocessor, but no more than there is work (about 16 lines). */
    NOT_IMPLEMENTED(out, lse, q, k, v, heads, seq, causal, scale, multiprocessors, stream);
    return cudaGetLastError();
}

#endif

cudaError_t attention_flash3(__nv_bfloat16 *out, float *lse, const __nv_bfloat16 *q,
                             const __nv_bfloat16 *k, const __nv_bfloat16 *v, int batch, int heads,
                             int seq, int dim, int causal, float scale, cudaStream_t stream)
{
    /* TODO: what the kernel does not take goes to attention_flash2: another GPU or dim, nothing
       to do, misaligned arrays, a scale that turns the largest score into the smallest (about 11
       lines). */
    NOT_IMPLEMENTED(out, lse, q, k, v, batch, heads, seq, dim, causal, scale, stream);
    return cudaGetLastError();
}
