/*
 * 4j_flash_attention3_backward.cu: the gradients of attention in bf16 on Hopper's units: the TMA
 * fetches, wgmma multiplies, and threads compute weights and their gradients during the products.
 *
 * The mathematics is 4d's, and so are its two directions. Here they are one kernel, written once:
 *
 *     rows that stay           rows that pass    sums of a block's rows
 *     keys      k, v           q, grad_out       grad_v += p^T grad_out,  grad_k += grad_s^T q
 *     queries   q, grad_out    k, v              grad_q += grad_s k
 *
 * Of each pair, *x* is q or k and *y* is grad_out or v. Scores are x of the rows that stay times x
 * of those that pass, grad_p is the same of y. Both come transposed if keys stay. So weights and
 * grad_s are always in registers as wgmma takes its operand a, and its operand b is the tile that
 * just passes: nothing but tiles goes through shared memory.
 *
 * The division of labour is that of 4b and 4i. A block has a *producer* (one thread), which asks
 * the TMA for tiles of x and y, and *consumer* groups of 128 threads with 64 rows each. Blocks are
 * persistent, one for each multiprocessor.
 *
 * What a group does for a tile, and what the tensor cores do meanwhile:
 *
 *     p = 2^(scores - lse)              grad_p
 *     grad_s = p (grad_p - D)           grad_v += p^T grad_out
 *     round grad_s to bf16              the scores of the next tile
 *     wait                              grad_k += grad_s^T q
 *
 * Registers decide the sizes. A thread has 240. Keys that stay, dim 128, 64 queries in a tile: 128
 * for grad_k and grad_v, 32 for scores, 32 for grad_p, 16 for an operand a: 208.
 *
 * Only for compute capability 9.0. Other GPUs and misaligned arrays go to 4d.
 *
 * The cost removed: operands that pass through registers, and exponentials for which the tensor
 * cores wait. The cost left: seven products where five would do; the tensor cores read k q^T's
 * operands from shared memory as fast as it can deliver them.
 */
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include "4j_flash_attention3_backward/flash_attention3_backward.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include "tma.h"
#include "wgmma.h"
#include <cuda_bf16.h>
#include <math.h>

typedef __nv_bfloat16 bf16;

#define ROW     128  /* bytes of a row of a box: 64 elements, which the swizzle permutes */
#define ALIGNED 1024 /* the swizzle's pattern repeats every 8 rows */
#define LOG2_E  1.4426950408889634f

/** Of the kernel in which keys stay and queries pass, and of the one with the sides exchanged. */
template <int DIM, bool KEYS_STAY> struct sizes {
    enum {
        GROUPS = DIM == 64 && !KEYS_STAY ? 3 : 2,       /* that consume */
        COLS = DIM == 64 ? 80 : (KEYS_STAY ? 64 : 128), /* rows of a tile */
        STAGES = DIM == 64 ? 6 : (KEYS_STAY ? 4 : 2),   /* of the ring */
        ROWS = GROUPS * 64,                             /* that stay */
        THREADS = 128 * (1 + GROUPS),                   /* the first group produces */
        FEW = GROUPS == 2 ? 24 : 32,                    /* registers of a thread that produces */
        MANY = GROUPS == 2 ? 240 : 160,
        STAY = ROWS * DIM * 2,
        TILE = COLS * DIM * 2,
        SUMS = COLS * 2 * 4, /* lse and D of the queries of a tile */
        RING = 2 * STAY,
        BARRIERS = RING + STAGES * (2 * TILE + SUMS),
        SHARED = ALIGNED + BARRIERS + (2 * STAGES + 2) * 8
    };
};

/** The queries of a head, rounded up: the TMA needs rows of multiples of 16 bytes. */
#define PADDED(seq) (((seq) + 3) / 4 * 4)

#if TENSOR_MAPS

/** The tensor maps of a kernel. x is q and k, y is grad_out and v. */
struct maps {
    CUtensorMap stay_x, stay_y, x, y;
    CUtensorMap sums; /* [2 heads x padded seq], in boxes of 2 x COLS */
};

#endif

#if ON_HOPPER

/** Where a producer or a consumer is in the ring; all are shared addresses. */
template <int DIM, bool KEYS_STAY> struct place {
    typedef sizes<DIM, KEYS_STAY> S;
    uint32_t stay;    /* rows of q or k, then those of grad_out or v; the ring, the mbarriers */
    int slot, parity; /* the parity flips each time round */

    __device__ uint32_t x() const /* of q or k: DIM / 64 boxes of [COLS x 64] */
    {
        return stay + S::RING + slot * 2 * S::TILE;
    }
    __device__ uint32_t y() const /* of grad_out or v */
    {
        return x() + S::TILE;
    }
    __device__ uint32_t sums() const /* lse[COLS], d[COLS] */
    {
        return stay + S::RING + S::STAGES * 2 * S::TILE + slot * S::SUMS;
    }
    __device__ uint32_t full() const
    {
        return stay + S::BARRIERS + slot * 8;
    }
    __device__ uint32_t empty() const
    {
        return full() + S::STAGES * 8;
    }
    __device__ uint32_t stay_full() const
    {
        return stay + S::BARRIERS + 2 * S::STAGES * 8;
    }
    __device__ uint32_t stay_empty() const
    {
        return stay_full() + 8;
    }
    __device__ void next()
    {
        slot = slot + 1 == S::STAGES ? 0 : slot + 1;
        parity ^= slot == 0;
    }
};

/**
 * Which rows a block has in its round 0, 1, ... With a mask, the longest pieces of work of all
 * heads come first. Without one all are as long, and those of a head, which read the same tiles,
 * are neighbours. Every other round runs backwards: who had the longest has the shortest next.
 */
struct work {
    int head, row;  /* the first of ROWS */
    int begin, end; /* tiles that pass */

    template <int DIM, bool KEYS_STAY>
    __device__ __forceinline__ bool find(int round, int heads, int seq, bool causal)
    {
        typedef sizes<DIM, KEYS_STAY> S;
        const int blocks = (seq - 1) / S::ROWS + 1;
        const int turn = round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
        const int number = round * gridDim.x + turn;
        const int block = causal ? number / heads : number % blocks;
        head = causal ? number % heads : number / blocks;
        row = (KEYS_STAY ? block : blocks - 1 - block) * S::ROWS;
        begin = KEYS_STAY && causal ? row / S::COLS : 0;
        end = ((!KEYS_STAY && causal ? min(row + S::ROWS, seq) : seq) - 1) / S::COLS + 1;
        return number < heads * blocks;
    }
};

/* ---- the producer ---------------------------------------------------------------------------- */

/** By one thread: fill the mbarriers with what they wait for. */
template <int DIM, bool KEYS_STAY> __device__ static void begin(place<DIM, KEYS_STAY> at)
{
    typedef sizes<DIM, KEYS_STAY> S;
    for (at.slot = 0; at.slot < S::STAGES; at.slot++) {
        barrier_init(at.full(), 1);
        barrier_init(at.empty(), S::GROUPS);
    }
    barrier_init(at.stay_full(), 1);
    barrier_init(at.stay_empty(), S::GROUPS);
    fence_barriers();
}

/** Fetch all columns of rows `row`, ... of a head, in boxes of `rows` rows. */
template <int DIM>
__device__ __forceinline__ static void fetch(uint32_t to, const CUtensorMap *from, uint32_t barrier,
                                             int head, int row, int rows)
{
    for (int col = 0; col < DIM; col += 64)
        copy_tile_3d(to + col / 64 * rows * ROW, from, barrier, head, row, col);
}

template <int DIM, bool KEYS_STAY>
__device__ static void produce(place<DIM, KEYS_STAY> at, const maps *m, int heads, int seq,
                               bool causal)
{
    typedef sizes<DIM, KEYS_STAY> S;
    work w;
    at.parity = 1; /* before its first phase, a barrier says that 1 is over */
    for (int round = 0; w.find<DIM, KEYS_STAY>(round, heads, seq, causal); round++) {
        /* TODO: the rows that stay, when those of the round before have been read; then each
           tile, into a stage that is empty: x, y, and if keys stay the queries' lse and D, which is
           box (2 * head, first query) of m->sums (about 13 lines). */
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* Of the width that the sums have. */
__device__ __forceinline__ static void multiply(float (&s)[8][4], uint64_t a, uint64_t b, bool add)
{
    wgmma_bf16_n64<0>(s, a, b, add);
}

__device__ __forceinline__ static void multiply(float (&s)[10][4], uint64_t a, uint64_t b, bool add)
{
    wgmma_bf16_n80<0>(s, a, b, add);
}

__device__ __forceinline__ static void multiply(float (&s)[16][4], uint64_t a, uint64_t b, bool add)
{
    wgmma_bf16_n128<0>(s, a, b, add);
}

__device__ __forceinline__ static void multiply(float (&sum)[8][4], const uint32_t a[4], uint64_t b)
{
    wgmma_bf16_n64<1>(sum, a, b, true);
}

__device__ __forceinline__ static void multiply(float (&sum)[16][4], const uint32_t a[4],
                                                uint64_t b)
{
    wgmma_bf16_n128<1>(sum, a, b, true);
}

/** Begin s = a b^T, of the group's 64 rows at `a` and the tile at `b`, as one group of products.
 *  @param rows of a box of a */
template <int DIM, int N>
__device__ __forceinline__ static void begin_scores(float (&s)[N][4], uint32_t a, int rows,
                                                    uint32_t b)
{
    /* TODO: a product for each 16 columns: 32 bytes further, and after 64 columns in the next
       box; the first one replaces what is in s (about 7 lines). */
}

/** Begin sum += p b, of the group's weights of 16 * N columns and the tile at `b`, as one group. */
template <int WIDTH, int N>
__device__ __forceinline__ static void begin_sums(float (&sum)[WIDTH][4], const uint32_t (&p)[N][4],
                                                  uint32_t b)
{
    /* TODO: a product for each 16 rows of the tile; its columns from 64 on are in the next box
       (about 4 lines). */
}

/** The compiler moves no arithmetic with these sums across it: after wait_for_products it keeps
 * them from being read too early, before fence_sums from being written too late. */
template <int N> __device__ __forceinline__ static void arrived(float (&sum)[N][4])
{
#pragma unroll
    for (int i = 0; i < 4 * N; i++) asm volatile("" : "+f"(sum[i / 4][i % 4])::"memory");
}

/* ---- weights and their gradients ------------------------------------------------------------- */

/** 2^x by the unit that has it; 0 for -infinity. */
__device__ __forceinline__ static float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ static float2 two_at(uint32_t address)
{
    return *(const float2 *)__cvta_shared_to_generic(address);
}

__device__ __forceinline__ static uint32_t rounded(float x, float y)
{
    const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
    return *(const uint32_t *)&both;
}

/** Weights become operand a of 16 columns each; tensor_core.h draws both. */
template <int N>
__device__ __forceinline__ static void pack(uint32_t (&p)[N][4], const float (&s)[2 * N][4])
{
#pragma unroll
    for (int i = 0; i < 4 * N; i++) {
        const float *two = &s[i / 2][i % 2 * 2];
        p[i / 4][i % 4] = rounded(two[0], two[1]);
    }
}

/* ---- the consumers --------------------------------------------------------------------------- */

/** One thread of a group says that the group has read what this mbarrier guards. */
__device__ __forceinline__ static void give_back(uint32_t barrier)
{
    if (threadIdx.x % 128 == 0) barrier_arrive(barrier);
}

/** What a thread of a group has to do. */
template <int DIM, bool KEYS_STAY> struct task {
    enum { COLS = sizes<DIM, KEYS_STAY>::COLS };
    place<DIM, KEYS_STAY> at;
    uint32_t rows; /* the group's rows of the first box that stays */
    int seq;
    bool causal;
    float scale;        /* log2(e) included */
    int row;            /* the warp's first */
    float lse[2], d[2]; /* of a lane's rows, if queries stay */
    float of_x[DIM / 8][4], of_y[DIM / 8][4];
    float s[COLS / 8][4], g[COLS / 8][4]; /* scores, then weights; and their gradients */
    uint32_t p[COLS / 16][4];
};

/** Scores become weights. */
template <int DIM, bool KEYS_STAY>
__device__ __forceinline__ static void weigh(task<DIM, KEYS_STAY> &t)
{
    /* TODO: p = 2^(scale s - lse) by one multiply-add and exp2_fast; lse is the row's, t.lse,
       if queries stay; else the column's, at t.at.sums(), and two_at reads that of two columns
       (about 9 lines). */
}

/** The weights of keys that a query does not see become 0. */
template <int DIM, bool KEYS_STAY>
__device__ __forceinline__ static void mask(task<DIM, KEYS_STAY> &t, int col)
{
    const int lane = threadIdx.x % 32, seen = t.causal ? min(t.row + 1, t.seq) : t.seq;
    if (KEYS_STAY ? !t.causal || col >= t.row + 15 : col + t.COLS <= seen) return;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int row = t.row + r * 8 + lane / 4, first = col + lane % 4 * 2;
        const int end = t.causal ? min(row + 1, t.seq) : t.seq;
#pragma unroll
        for (int j = 0; j < t.COLS / 8; j++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const int c = first + j * 8 + i;
                if (KEYS_STAY ? c < row : c >= end) t.s[j][r * 2 + i] = 0.0f;
            }
        }
    }
}

/** grad_p becomes grad_s = p (grad_p - D). */
template <int DIM, bool KEYS_STAY>
__device__ __forceinline__ static void differentiate(task<DIM, KEYS_STAY> &t)
{
    /* TODO: the same with D, which follows lse in shared memory (about 9 lines). */
}

/** Begin the scores of the tile at `at`, once it is there. */
template <int DIM, bool KEYS_STAY>
__device__ __forceinline__ static void begin_tile(task<DIM, KEYS_STAY> &t,
                                                  const place<DIM, KEYS_STAY> &at)
{
    barrier_wait(at.full(), at.parity);
    fence_sums();
    begin_scores<DIM>(t.s, t.rows, sizes<DIM, KEYS_STAY>::ROWS, at.x());
}

/** Add what a tile gives. Its scores are there before, those of the next tile afterwards. */
template <bool LAST, int DIM, bool KEYS_STAY>
__device__ __forceinline__ static void step(task<DIM, KEYS_STAY> &t, int tile)
{
    typedef sizes<DIM, KEYS_STAY> S;
    const place<DIM, KEYS_STAY> now = t.at;
    /* TODO: begin grad_p; meanwhile weigh and mask. If keys stay, begin grad_v. When grad_p is
       there, make grad_s of it; then the scores are free: begin those of the next tile, if there is
       one. Round grad_s, where p is not read any more, begin the sums of x. When all are there,
       give the tile back (about 25 lines). */
}

/** Store a warp's rows of a gradient, from `row` on, those that exist. */
template <int WIDTH>
__device__ __forceinline__ static void store(bf16 *grad, const float (&sum)[WIDTH][4], float factor,
                                             int row, int seq)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int at = row + r * 8 + lane / 4;
        if (at >= seq) continue;
        uint32_t *to = (uint32_t *)&grad[(size_t)at * WIDTH * 8 + lane % 4 * 2];
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            to[j * 4] = rounded(sum[j][r * 2] * factor, sum[j][r * 2 + 1] * factor);
    }
}

/** @param scale base_2 of scores, log2(e) included */
template <int DIM, bool KEYS_STAY>
__device__ static void consume(bf16 *grad_x, bf16 *grad_y, const float *sums,
                               const place<DIM, KEYS_STAY> &first, int heads, int seq, bool causal,
                               float scale, float base_2)
{
    typedef sizes<DIM, KEYS_STAY> S;
    const int group = threadIdx.x / 128 - 1;
    task<DIM, KEYS_STAY> t = {first, first.stay + group * 64 * ROW, seq, causal, base_2};
    work w;
    for (int round = 0; w.find<DIM, KEYS_STAY>(round, heads, seq, causal); round++) {
        t.row = w.row + (threadIdx.x / 32 - 4) * 16;
#pragma unroll
        for (int i = 0; i < DIM / 2; i++) t.of_x[i / 4][i % 4] = t.of_y[i / 4][i % 4] = 0.0f;
        if (!KEYS_STAY) {
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const int row = t.row + r * 8 + threadIdx.x % 32 / 4;
                const float *of = sums + (size_t)w.head * 2 * PADDED(seq) + row;
                t.lse[r] = row < seq ? of[0] : 0.0f;
                t.d[r] = row < seq ? of[PADDED(seq)] : 0.0f;
            }
        }
        barrier_wait(t.at.stay_full(), round % 2);
        /* TODO: the scores of the first tile; a step for each tile, the last one by step<true>;
           give back the rows that stay (about 7 lines). */
        const size_t head = (size_t)w.head * seq * DIM;
        store(grad_x + head, t.of_x, scale, t.row, seq);
        if (KEYS_STAY) store(grad_y + head, t.of_y, 1.0f, t.row, seq);
    }
}

#endif

#if TENSOR_MAPS

/**
 * lse in base 2, and D, of each query, by DIM / 8 threads. The rest of a row is 0, as is all that
 * the TMA reads beyond its end. A query there has weights of 1, but its q and grad_out are 0.
 * @param sums [heads][2][PADDED(seq)]
 */
template <int DIM>
__global__ static void sums_kernel(float *sums, const float *lse, const bf16 *grad_out,
                                   const bf16 *out, int heads, int seq)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / (DIM / 8);
    const int part = threadIdx.x % (DIM / 8), padded = PADDED(seq);
    const size_t head = i / padded, query = i % padded;
    const bool exists = head < (size_t)heads && query < (size_t)seq;
    float d = 0.0f;
    if (exists) {
        const size_t at = (head * seq + query) * DIM + part * 8;
        const uint4 a = *(const uint4 *)&grad_out[at], b = *(const uint4 *)&out[at];
        const bf16 *x = (const bf16 *)&a, *y = (const bf16 *)&b;
#pragma unroll
        for (int j = 0; j < 8; j++) d += __bfloat162float(x[j]) * __bfloat162float(y[j]);
    }
#pragma unroll
    for (int j = DIM / 16; j > 0; j /= 2) d += __shfl_xor_sync(0xffffffffu, d, j);
    if (part > 0 || head >= (size_t)heads) return;
    float *to = sums + head * 2 * padded + query;
    to[0] = exists ? lse[head * seq + query] * LOG2_E : 0.0f;
    to[padded] = d;
}

template <int DIM, bool KEYS_STAY>
__global__ static void __launch_bounds__(sizes<DIM, KEYS_STAY>::THREADS, 1)
    gradients_kernel(bf16 *grad_x, bf16 *grad_y, const float *sums,
                     const __grid_constant__ struct maps m, int heads, int seq, bool causal,
                     float scale)
{
#if ON_HOPPER
    typedef sizes<DIM, KEYS_STAY> S;
    extern __shared__ unsigned char shared[];
    const place<DIM, KEYS_STAY> first = {(shared_address(shared) + ALIGNED - 1) / ALIGNED * ALIGNED,
                                         0, 0};
    /* TODO: begin the mbarriers; each group goes to its work: the producer with S::FEW
       registers, the others with S::MANY (about 9 lines). */
#endif
}

/** x, y: those that stay, then those that pass. */
template <int DIM, bool KEYS_STAY>
static cudaError_t launch(bf16 *grad_x, bf16 *grad_y, float *sums, const bf16 *stay_x,
                          const bf16 *stay_y, const bf16 *x, const bf16 *y, int heads, int seq,
                          bool causal, float scale, int multiprocessors, cudaStream_t stream)
{
    typedef sizes<DIM, KEYS_STAY> S;
    /* TODO: the maps: sums as a matrix with 2 rows for each head; q, k, v and grad_out as
       planes of [seq x DIM], so that no box reaches into the next head. A block for each
       multiprocessor, but no more than there is work (about 20 lines). */
    NOT_IMPLEMENTED(grad_x, grad_y, sums, stay_x, stay_y, x, y, heads, seq, causal, scale,
                    multiprocessors, stream);
    return cudaGetLastError();
}

template <int DIM>
static cudaError_t launch_all(bf16 *grad_q, bf16 *grad_k, bf16 *grad_v, const bf16 *grad_out,
                              const bf16 *out, const float *lse, const bf16 *q, const bf16 *k,
                              const bf16 *v, int heads, int seq, bool causal, float scale,
                              int multiprocessors, cudaStream_t stream)
{
    float *sums;
    const size_t queries = (size_t)heads * PADDED(seq);
    cudaError_t error = cudaMallocAsync(&sums, 2 * queries * sizeof *sums, stream);
    if (error != cudaSuccess) return error;
    sums_kernel<DIM><<<(unsigned)((queries * (DIM / 8) - 1) / 256 + 1), 256, 0, stream>>>(
        sums, lse, grad_out, out, heads, seq);
    error = cudaGetLastError();
    if (error == cudaSuccess)
        error = launch<DIM, true>(grad_k, grad_v, sums, k, v, q, grad_out, heads, seq, causal,
                                  scale, multiprocessors, stream);
    if (error == cudaSuccess)
        error = launch<DIM, false>(grad_q, NULL, sums, q, grad_out, k, v, heads, seq, causal, scale,
                                   multiprocessors, stream);
    const cudaError_t freed = cudaFreeAsync(sums, stream);
    return error == cudaSuccess ? freed : error;
}

#endif

cudaError_t attention_flash3_backward(__nv_bfloat16 *grad_q, __nv_bfloat16 *grad_k,
                                      __nv_bfloat16 *grad_v, const __nv_bfloat16 *grad_out,
                                      const __nv_bfloat16 *out, const float *lse,
                                      const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                                      const __nv_bfloat16 *v, int batch, int heads, int seq,
                                      int dim, int causal, float scale, cudaStream_t stream)
{
    /* TODO: what the kernel does not take goes to attention_flash2_backward: another GPU or
       dim, nothing to do, misaligned arrays (about 15 lines). */
    NOT_IMPLEMENTED(grad_q, grad_k, grad_v, grad_out, out, lse, q, k, v, batch, heads, seq, dim,
                    causal, scale, stream);
    return cudaGetLastError();
}
