/*
 * 510_product.cuh: the three products of a linear layer on tensor cores, bf16 in, sums in fp32, and
 * what is done to a sum before it leaves its register.
 *
 *     forward   y      = x        w^T    NT    both rows run along k
 *     backward  grad_x = grad_y   w      NN    b's rows run across k
 *               grad_w = grad_y^T x      TN    both run across k
 *
 * 4a has the second of them. The others need no second kernel and no transposed copy: a tile that
 * runs along k is fetched by `ldmatrix`, one that runs across it by `ldmatrix.trans`, which turns 8
 * x 8 elements on the way. Swizzle, ring and fragments of two steps are those of 4a.
 *
 * Tiles have 256 x 128 elements of c, with one block per multiprocessor. Where k is short, where
 * these would leave most of the device idle, or where shared memory is too small, they have 128 x
 * 128, with two blocks per multiprocessor.
 *
 * A gradient of weights is small and its k is all tokens: 768 x 768 are 18 tiles, for 132
 * multiprocessors. So k is split, each split leaves its sums in memory, and a second kernel adds
 * them, in an order that is always the same; atomics would give other bits each time.
 *
 * All but `finish` is given: tiles, swizzle, ring and fragments are those of 4a, whose page
 * explains them.
 *
 * The cost removed: sums that go to memory so that a bias or a GELU can read them. Storing the sums
 * takes a third of a block's time where k is 768: it goes through shared memory, in whole rows. The
 * cost left: as in 4a, no stream of `mma.sync` keeps Hopper's tensor cores more than 63 % busy.
 */
#ifndef PRODUCT_CUH
#define PRODUCT_CUH

#include "cuda_check.h"
#include "not_implemented.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "tensor_core.h"
#include <cuda_bf16.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef __nv_bfloat16 bf16;

typedef enum product_kind { NT, NN, TN } product_kind;

/** How [batch x seq] rows of parts x heads x dim are stored by heads: [parts x batch x heads x seq
 * x dim]. */
typedef struct head_layout {
    int batch, seq, heads, dim;
} head_layout;

/** By heads, as rows of dim: which of them has the element (row, col) is the sum of these two. */
__host__ __device__ static inline int head_row(const head_layout &by, int row)
{
    return row / by.seq * by.heads * by.seq + row % by.seq;
}

__host__ __device__ static inline int head_col(const head_layout &by, int col)
{
    const int head = col >> (by.dim == 64 ? 6 : 7), part = head / by.heads; /* head: of all parts */
    return (part * by.batch * by.heads + head - part * by.heads) * by.seq;
}

/** c[m x n] = a b, and then, for each sum: bias, residual or slope, and where it goes. What is not
 *  wanted is NULL. Arrays begin at multiples of 16 bytes, and pitches are multiples of 8; behind
 * the end of a row there are zeros up to the next multiple of 8. */
typedef struct product {
    product_kind kind;
    int m, n, k;
    const bf16 *a, *b;    /* as the kind says: [m x k] or [k x m]; [n x k] or [k x n] */
    int a_pitch, b_pitch; /* elements from a row to the next */
    const float *bias;    /* [n] is added */
    const bf16 *residual; /* [m x n] is added */
    const bf16 *slope_of; /* [m x n]: times the slope of gelu there */
    bf16 *out;            /* [m x n] */
    bf16 *gelu;           /* [m x n] receives gelu(out) too */
    float *sums;          /* [m x n] instead of out: as fp32 */
    bool adds;            /* to what is in sums */
    int out_pitch;        /* of all [m x n] */
    head_layout by;       /* of these if they are by heads and not in rows; Hopper's units only: */
    bool a_heads, b_heads, out_heads;
} product;

/** What products need of the device, the same for all of them. */
typedef struct product_room {
    int processors;      /* multiprocessors */
    int hopper;          /* likewise if it has Hopper's units, else 0 */
    bool large;          /* is there shared memory for the large tiles? */
    float *parts;        /* sums of splits; in the arena */
    size_t parts_floats; /* with fewer, there are fewer splits */
} product_room;

#define GELU_SCALE 0.7978845608f /* the root of 2 / pi */
#define GELU_CUBE  0.044715f

/** By the unit that has it, to 11 bits: bf16 keeps 8. */
__device__ __forceinline__ static float tanh_fast(float x)
{
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ static float gelu(float x)
{
    const float t = tanh_fast(x * (GELU_SCALE + GELU_SCALE * GELU_CUBE * x * x));
    return 0.5f * x + 0.5f * x * t;
}

__device__ __forceinline__ static float gelu_slope(float x)
{
    const float t = tanh_fast(x * (GELU_SCALE + GELU_SCALE * GELU_CUBE * x * x));
    const float inner = GELU_SCALE + 3.0f * GELU_SCALE * GELU_CUBE * x * x;
    return 0.5f + 0.5f * (t + x * inner * (1.0f - t * t));
}

__device__ __forceinline__ static float2 load_two(const bf16 *from)
{
    return __bfloat1622float2(*(const __nv_bfloat162 *)from);
}

/** What is done to a sum with the bf16 number at its place in another array. */
typedef enum product_other { NO_OTHER, RESIDUAL, SLOPE } product_other;

__host__ __device__ static inline product_other other_kind(const product &p)
{
    return p.residual ? RESIDUAL : p.slope_of ? SLOPE : NO_OTHER;
}

/** Finish two neighbouring sums.
 *  @param bias  of the two; zeros where there is none
 *  @param other of the two, bf16: of the residual or of slope_of, as `kind` says */
__device__ __forceinline__ static float2 finish(float2 sum, float2 bias, product_other kind,
                                                uint32_t other)
{
    /* SOLUTION: add bias; then add other, or multiply by its gelu_slope, whichever `kind` says.
       load_two makes floats of other (about 6 lines). */
    const float2 two = load_two((const bf16 *)&other);
    sum.x += bias.x, sum.y += bias.y;
    if (kind == RESIDUAL) sum.x += two.x, sum.y += two.y;
    if (kind == SLOPE) sum.x *= gelu_slope(two.x), sum.y *= gelu_slope(two.y);
    /* END SOLUTION */
    return sum;
}

__device__ __forceinline__ static uint32_t round_two(float2 two)
{
    const __nv_bfloat162 both = __floats2bfloat162_rn(two.x, two.y);
    return *(const uint32_t *)&both;
}

/** Take four neighbouring sums to where they go: as fp32 to sums, or finished to out.
 *  @param at of the first, in all of p's [m x n]. The rest as in finish, of four. */
__device__ __forceinline__ static void take_away(const product &p, size_t at, float4 sum,
                                                 float4 bias, uint2 other)
{
    if (p.sums) {
        float4 *to = (float4 *)(p.sums + at);
        const float4 before = p.adds ? *to : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        *to = make_float4(before.x + sum.x, before.y + sum.y, before.z + sum.z, before.w + sum.w);
        return;
    }
    const product_other kind = other_kind(p);
    const float2 left = finish({sum.x, sum.y}, {bias.x, bias.y}, kind, other.x);
    const float2 right = finish({sum.z, sum.w}, {bias.z, bias.w}, kind, other.y);
    *(uint2 *)(p.out + at) = {round_two(left), round_two(right)};
    if (p.gelu)
        *(uint2 *)(p.gelu + at) = {round_two({gelu(left.x), gelu(left.y)}),
                                   round_two({gelu(right.x), gelu(right.y)})};
}

__device__ __forceinline__ static float4 bias_of(const product &p, int col)
{
    return p.bias ? *(const float4 *)&p.bias[col] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

__device__ __forceinline__ static uint2 other_of(const product &p, size_t at)
{
    const bf16 *from = p.residual ? p.residual : p.slope_of;
    return from ? *(const uint2 *)&from[at] : make_uint2(0, 0);
}

#define WM    64 /* WM x WN elements of c per warp */
#define WN    64
#define BN    (2 * WN)
#define BK    64
#define STEPS (BK / 16) /* of `mma` a tile; each copies a part of another one */

/** One of the two matrices as a thread sees it, the chunks that it copies and the fragments that
 * its warp takes. Chunk c of row r stands at place c ^ (r % 8). OUTER rows or columns of c. Not
 * TURNED, a tile has OUTER rows that run along k; else BK rows that run across it. LEFT: it is a.
 */
template <int OUTER, bool TURNED, bool LEFT, int THREADS> struct operand {
    enum {
        CHUNKS = (TURNED ? OUTER : BK) / 8, /* of a row */
        ROW = CHUNKS * 16,                  /* bytes */
        STEP = THREADS / CHUNKS, /* rows from one of a thread's chunks to its next: a multiple of 8,
                                    so that its places in the swizzle are always the same */
        COPIES = (TURNED ? BK : OUTER) / STEP / STEPS, /* chunks of a part */
        FRAGMENTS = (LEFT ? WM : WN) / 16              /* of a warp, side by side */
    };
    const bf16 *from; /* its first chunk in the next tile */
    long step, tile;  /* elements to its next chunk, and to the next tile */
    int rows, cols;   /* that are left from there to the matrix's ends */
    uint32_t to, at;  /* its first place in a stage; and where its lane's row of the first matrices
                         of its warp is */

    /** @param outer, outer_end rows or columns of c. @param k, k_end the split */
    __device__ __forceinline__ operand(const bf16 *x, int pitch, int outer, int outer_end, int k,
                                       int k_end, uint32_t shared, int warp_outer)
    {
        const int r = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS, lane = threadIdx.x % 32;
        const int row = (TURNED ? k : outer) + r, col = (TURNED ? outer : k) + chunk * 8;
        from = x + (size_t)row * pitch + col;
        step = (long)STEP * pitch, tile = TURNED ? (long)BK * pitch : BK;
        rows = (TURNED ? k_end : outer_end) - row, cols = (TURNED ? outer_end : k_end) - col;
        to = shared + r * ROW + (chunk ^ r % 8) * 16;
        /* `mma` takes a's matrices down first, and b's along k first. */
        const bool down = LEFT != TURNED;
        const int lane_row = down ? lane % 16 : lane / 16 * 8 + lane % 8;
        const int lane_chunk = down ? lane / 16 : lane / 8 % 2;
        at = shared + (TURNED ? 0 : warp_outer * ROW) + lane_row * ROW +
             ((TURNED ? warp_outer / 8 : 0) + (lane_chunk ^ lane % 8)) * 16;
    }

    __device__ __forceinline__ void copy(uint32_t stage, int part)
    {
#pragma unroll
        for (int i = part * COPIES; i < (part + 1) * COPIES; i++)
            cp_async_cg(to + stage + i * STEP * ROW, from + i * step, i * STEP < rows && cols > 0);
        if (part < STEPS - 1) return;
        from += tile;
        (TURNED ? rows : cols) -= BK;
    }

    /** The fragments of step s. A move by whole chunks changes bits of the chunk's number: with the
     *  swizzle that is an xor. */
    __device__ __forceinline__ void take(uint32_t part[FRAGMENTS][4], uint32_t stage, int s) const
    {
#pragma unroll
        for (int i = 0; i < FRAGMENTS; i++) {
            const int chunks = TURNED ? i * 2 : s * 2, row = TURNED ? s * 16 : i * 16;
            const uint32_t from_row = ((at + stage) ^ chunks * 16) + row * ROW;
            if (TURNED)
                ldmatrix_trans(part[i], from_row);
            else
                ldmatrix(part[i], from_row);
        }
    }
};

/* A warp's sums to where they go. A fragment has two neighbouring sums a lane, in 8 rows an
 * instruction: stores of 4 bytes, and each sum would wait for its own load of the residual. So they
 * go by a patch of shared memory, where the ring is free at last, and a lane takes four neighbours,
 * always of the same columns; half a warp has a row. */
#define PATCH (WN + 8) /* floats of a row of a patch: 4 rows of a fragment in different banks */
#define AHEAD 8        /* rows a lane whose residual is loaded before the first of them is used */

__device__ __forceinline__ static void leave(const product &p, float *patch,
                                             const float sum[WM / 16][WN / 8][4], int row, int col,
                                             float *parts)
{
    const int lane = threadIdx.x % 32, q = lane % 16 * 4;
#pragma unroll
    for (int i = 0; i < WM / 8; i++) { /* lane l: two sums of row l / 4, two of l / 4 + 8 */
#pragma unroll
        for (int j = 0; j < WN / 8; j++)
            *(float2 *)&patch[(i * 8 + lane / 4) * PATCH + j * 8 + lane % 4 * 2] =
                *(const float2 *)&sum[i / 2][j][i % 2 * 2];
    }
    __syncwarp();
    if (col + q >= p.n) return;
    const float4 bias = bias_of(p, col + q);
    for (int i = lane / 16; i < WM; i += 2 * AHEAD) {
        uint2 other[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (row + i + k * 2 < p.m)
                other[k] = other_of(p, (size_t)(row + i + k * 2) * p.out_pitch + col + q);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const int r = row + i + k * 2;
            const float4 four = *(const float4 *)&patch[(i + k * 2) * PATCH + q];
            if (r >= p.m) continue;
            if (parts)
                *(float4 *)&parts[((size_t)blockIdx.y * p.m + r) * p.n + col + q] = four;
            else
                take_away(p, (size_t)r * p.out_pitch + col + q, four, bias, other[k]);
        }
    }
}

/* The ring, fragments of two steps, a copy between the products, as in 4a; leave. */
template <bool A_TURNED, bool B_TURNED, int DOWN, int STAGES>
__global__ static void __launch_bounds__(DOWN * 64, 4 / DOWN)
    product_kernel(const product p, int tiles, float *parts)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    enum {
        BM = DOWN * WM, /* DOWN warps down, 2 across */
        A_BYTES = BM * BK * 2,
        STAGE = A_BYTES + BN * BK * 2
    };
    const uint32_t ring = shared_address(shared), end = STAGES * STAGE;
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / 2 * WM, warp_col = warp % 2 * WN;
    /* Neighbours go along the shorter side, so that blocks of one time share what they read. */
    const int down = (p.m - 1) / BM + 1, across = (p.n - 1) / BN + 1, block = blockIdx.x;
    const int row = (down < across ? block % down : block / across) * BM;
    const int col = (down < across ? block / down : block % across) * BN;
    const int k = blockIdx.y * tiles * BK, k_end = min(p.k, k + tiles * BK);
    operand<BM, A_TURNED, true, DOWN * 64> a(p.a, p.a_pitch, row, p.m, k, k_end, ring, warp_row);
    operand<BN, B_TURNED, false, DOWN * 64> b(p.b, p.b_pitch, col, p.n, k, k_end, ring + A_BYTES,
                                              warp_col);
    uint32_t a_part[2][WM / 16][4], b_part[2][WN / 16][4], read = 0, write = end - STAGE;
    float sum[WM / 16][WN / 8][4] = {};

    for (int i = 0; i < STAGES - 1; i++) {
#pragma unroll
        for (int s = 0; s < STEPS; s++) a.copy(i * STAGE, s), b.copy(i * STAGE, s);
        cp_async_commit();
    }
    cp_async_wait<STAGES - 2>();
    __syncthreads(); /* the first stage is complete */
    a.take(a_part[0], 0, 0), b.take(b_part[0], 0, 0);
    for (int start = k; start < k_end; start += BK) {
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            if (s == STEPS - 1) {
                read = read + STAGE == end ? 0 : read + STAGE;
                cp_async_wait<STAGES - 3>();
                __syncthreads(); /* the next stage is complete, and this one has been read */
            }
            a.take(a_part[(s + 1) % 2], read, (s + 1) % STEPS);
            b.take(b_part[(s + 1) % 2], read, (s + 1) % STEPS);
            a.copy(write, s), b.copy(write, s);
#pragma unroll
            for (int i = 0; i < WM / 16; i++) {
#pragma unroll
                for (int j = 0; j < WN / 8; j++)
                    mma_bf16(sum[i][j], a_part[s % 2][i], b_part[s % 2][j / 2] + j % 2 * 2);
            }
        }
        cp_async_commit();
        write = write + STAGE == end ? 0 : write + STAGE;
    }
    cp_async_wait<0>();
    __syncthreads(); /* no thread reads the ring any more */
    leave(p, (float *)shared + warp * WM * PATCH, sum, row + warp_row, col + warp_col, parts);
}

/* A thread adds the parts of four sums and finishes them. */
__global__ static void parts_kernel(const product p, const float *parts, int splits)
{
    const size_t size = (size_t)p.m * p.n, i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    const size_t row = i / p.n, col = i % p.n, at = row * p.out_pitch + col;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (i >= size) return;
#pragma unroll 4
    for (int s = 0; s < splits; s++) {
        const float4 part = *(const float4 *)&parts[s * size + i];
        sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
    }
    take_away(p, at, sum, bias_of(p, (int)col), other_of(p, at));
}

static inline void add_parts(const product *p, const product_room *room, int splits,
                             cudaStream_t stream)
{
    const size_t fours = (size_t)p->m * p->n / 4;
    parts_kernel<<<(unsigned)((fours - 1) / 256 + 1), 256, 0, stream>>>(*p, room->parts, splits);
}

/* Large tiles or small, and how many splits, by the time that the slowest multiprocessor takes, in
 * tiles of k; the numbers are measured. */
typedef struct plan {
    bool large;
    int splits, tiles; /* tiles of k a split */
} plan;

#define MOST_SPLITS 32
#define LARGE_BEGIN 6.6   /* large tiles of k: the first copies, and the way out */
#define SMALL_BEGIN 2.3   /* likewise: a block works while its neighbour begins or leaves */
#define SMALL_TILE  0.555 /* what a small one takes of a large one */
#define SECOND      3.0   /* the second kernel */
#define A_FLOAT     2e-6  /* of a split, written and read */

static double cycles(const product *p, const product_room *room, plan by)
{
    const int tile_m = by.large ? 256 : 128;
    const double blocks = ((p->m - 1) / tile_m + 1.0) * ((p->n - 1) / BN + 1) * by.splits;
    const double each = by.large ? LARGE_BEGIN + by.tiles : SMALL_BEGIN + SMALL_TILE * by.tiles;
    const double second = SECOND + A_FLOAT * by.splits * p->m * p->n;
    return ceil(blocks / room->processors) * each + (by.splits > 1 ? second : 0.0);
}

static plan plan_of(const product *p, const product_room *room)
{
    plan best = {false, 1, (p->k - 1) / BK + 1};
    const int all = best.tiles;
    for (int i = 0; i < (room->large ? 2 : 1) * MOST_SPLITS; i++) {
        plan one = {i >= MOST_SPLITS, i % MOST_SPLITS + 1, 0};
        one.tiles = (all - 1) / one.splits + 1;
        if ((one.splits - 1) * one.tiles >= all) continue; /* the last one would have nothing */
        if (one.splits > 1 &&
            (p->n % 4 != 0 || (size_t)p->m * p->n * one.splits > room->parts_floats))
            continue;
        if (cycles(p, room, one) < cycles(p, room, best)) best = one;
    }
    return best;
}

template <bool A_TURNED, bool B_TURNED, int DOWN, int STAGES>
static cudaError_t launch_tiles(const product *p, const product_room *room, plan by,
                                cudaStream_t stream)
{
    enum { BM = DOWN * WM, BYTES = STAGES * (BM + BN) * BK * 2 };
    const dim3 grid(((p->m - 1) / BM + 1) * ((p->n - 1) / BN + 1), by.splits);
    CUDA_CHECK(cudaFuncSetAttribute(product_kernel<A_TURNED, B_TURNED, DOWN, STAGES>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
    product_kernel<A_TURNED, B_TURNED, DOWN, STAGES>
        <<<grid, DOWN * 64, BYTES, stream>>>(*p, by.tiles, by.splits > 1 ? room->parts : NULL);
    if (by.splits > 1) add_parts(p, room, by.splits, stream);
    return cudaGetLastError();
}

template <bool A_TURNED, bool B_TURNED>
static cudaError_t launch(const product *p, const product_room *room, cudaStream_t stream)
{
    const plan by = plan_of(p, room);
    return by.large ? launch_tiles<A_TURNED, B_TURNED, 4, 4>(p, room, by, stream)
                    : launch_tiles<A_TURNED, B_TURNED, 2, 3>(p, room, by, stream);
}

/** m, n and k are at least 1. */
static inline cudaError_t multiply_by_mma(const product *p, const product_room *room,
                                          cudaStream_t stream)
{
    switch (p->kind) {
    case NT: return launch<false, false>(p, room, stream);
    case NN: return launch<false, true>(p, room, stream);
    case TN: return launch<true, true>(p, room, stream);
    }
    return cudaErrorNotSupported;
}

#endif
