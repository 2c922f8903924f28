/*
 * 412_moe_experts.cu: all experts work at once: two launches, however many experts there are and
 * however the tokens spread over them.
 *
 * An expert is two products, hidden = gelu(x * up^T) and y = hidden * down^T, with as many rows as
 * its list has entries. How many that is, only the device knows. A launch per expert would have to
 * ask, and leaves the device idle behind every expert that is small.
 *
 * The idea: a *grouped* product. The tiles of all experts' products are numbered through, one
 * expert after the other. A grid of as many blocks as fit takes them in turn (407), and each block
 * finds the expert of its next tile by walking along offsets. An expert without entries has no
 * tiles, and one with nine tenths of the tokens has nine tenths of them.
 *
 * Nothing is sorted in memory. The first product gathers: row r of its tile is the token of entry
 * permutation[r], and a copy of 16 bytes may come from anywhere. The second one scatters: it adds
 * its rows, times their gates, to the tokens that they belong to, by atomics. output was cleared by
 * the blocks of the first launch. A sum of two terms is the same in either order.
 *
 * The product: rows of both operands lie along the sum. So both tiles are rows of 128 bytes in
 * shared memory, in a ring of three, and `ldmatrix` hands `mma` its fragments. Chunk c of row r
 * lies at place c ^ (r % 8), where eight rows of one column meet in no bank (4a).
 *
 * The cost removed: launches, idle blocks, and a gathered copy of the tokens. The cost left: the
 * last tile of each expert is not full, and what is multiplied there is thrown away: half a tile an
 * expert on average.
 */
#include "412_moe_experts/moe_experts.h"
#include "cuda_check.h"
#include "not_implemented.h"
#include <cuda_bf16.h>
#include <stdint.h>

/* SOLUTION: the sizes, and the instructions (about 45 lines). */
#define TILE    128 /* TILE x TILE elements of a product a block */
#define BK      64
#define ROW     (BK * 2) /* bytes of a row of a tile: 8 chunks */
#define STAGE   (2 * TILE * ROW)
#define STAGES  3
#define THREADS 256 /* 8 warps: 2 down, 4 across */
#define DOWN    4   /* products of 16 x 8 that a warp has, down and across */
#define ACROSS  4
#define COPIES  (TILE * 8 / THREADS) /* chunks a thread, of either tile */

/** Four matrices of 8 x 8: lanes 0-7 give the addresses of the first one's rows, and so on. */
__device__ __forceinline__ static void load_matrices(uint32_t to[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
}

/** sum[16 x 8] += a[16 x 16] b[8 x 16]^T */
__device__ __forceinline__ static void mma(float sum[4], const uint32_t a[4], uint32_t b0,
                                           uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/** 16 bytes to shared memory, or 16 zeros. */
__device__ __forceinline__ static void copy_chunk(uint32_t to, const void *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}

__device__ __forceinline__ static void commit_copies(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int GROUPS> __device__ __forceinline__ static void wait_for_copies(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}
/* END SOLUTION */

/* SOLUTION: group, the arguments of a kernel; and the scheduler: which expert has tile `number`?
   (about 40 lines) */
enum product { FIRST, SECOND };

/** The products x * w^T of all experts. */
struct group {
    float *output;         /* [tokens x d] */
    __nv_bfloat16 *hidden; /* [tokens * top_k x f], by rows of permutation */
    const __nv_bfloat16 *input, *const *weights;
    const int *permutation, *offsets;
    const float *gates;
    size_t outputs; /* elements of output */
    int experts, top_k;
    int inner, cols; /* terms of a sum, and columns of a product */
};

/** A tile of an expert's product: its corner, and where the expert's rows end. */
struct tile {
    int expert;
    long first; /* the number of this expert's first tile */
    long row, col, end;
};

/** Go on to tile `number`, which does not come before the last one. @return is there one? */
__device__ static bool find_tile(tile *t, long number, const group &g)
{
    const long across = (g.cols + TILE - 1L) / TILE;
    for (; t->expert < g.experts; t->expert++) {
        const long begin = g.offsets[t->expert];
        t->end = g.offsets[t->expert + 1];
        const long tiles = (t->end - begin + TILE - 1) / TILE * across, mine = number - t->first;
        if (mine < tiles) {
            t->row = begin + mine / across * TILE, t->col = mine % across * TILE;
            return true;
        }
        t->first += tiles;
    }
    return false;
}
/* END SOLUTION */

/* SOLUTION: source: where a thread's chunks of a tile come from; the tokens' rows from anywhere
   (about 40 lines). */
/** A thread copies one chunk of every 32nd row, so that its places in the swizzle are the same. */
struct source {
    const __nv_bfloat16 *a[COPIES], *b; /* its chunks at the sums' first terms; NULL: no such row */
    int b_rows;                         /* rows of the weights from its first one on */
    uint32_t to;                        /* its first place in a tile */
};

template <product P> __device__ static source source_of(const tile &t, const group &g)
{
    const int r = threadIdx.x / 8, chunk = threadIdx.x % 8;
    source s;
    for (int i = 0; i < COPIES; i++) {
        const long row = t.row + r + i * (THREADS / 8);
        if (row >= t.end)
            s.a[i] = NULL;
        else if (P == FIRST)
            s.a[i] = g.input + (size_t)(g.permutation[row] / g.top_k) * g.inner + chunk * 8;
        else
            s.a[i] = g.hidden + (size_t)row * g.inner + chunk * 8;
    }
    s.b = g.weights[t.expert] + (size_t)(t.col + r) * g.inner + chunk * 8;
    s.b_rows = (int)(g.cols - t.col - r);
    s.to = r * ROW + (chunk ^ r % 8) * 16;
    return s;
}

/** The terms of the sums from k on. */
__device__ __forceinline__ static void copy_stage(uint32_t stage, const source &s, int k, int inner)
{
    const bool inside = k + threadIdx.x % 8 * 8 < inner;
#pragma unroll
    for (int i = 0; i < COPIES; i++) {
        const int rows = i * (THREADS / 8);
        const bool a_inside = inside && s.a[i] != NULL, b_inside = inside && rows < s.b_rows;
        copy_chunk(stage + s.to + rows * ROW, a_inside ? s.a[i] + k : s.b, a_inside);
        copy_chunk(stage + TILE * ROW + s.to + rows * ROW,
                   b_inside ? s.b + (size_t)rows * inner + k : s.b, b_inside);
    }
}
/* END SOLUTION */

/* SOLUTION: multiply: a warp's sums over the terms of one stage (about 20 lines). */
/** @param a, b where this lane's row of the warp's first matrices lies. To move by whole chunks is
 *  to change bits of the chunk's number, which the swizzle leaves to xor. */
__device__ __forceinline__ static void multiply(float sum[DOWN][ACROSS][4], uint32_t a, uint32_t b)
{
#pragma unroll
    for (int k = 0; k < BK / 16; k++) {
        uint32_t a_part[DOWN][4], b_part[ACROSS / 2][4];
#pragma unroll
        for (int i = 0; i < DOWN; i++) load_matrices(a_part[i], (a ^ k * 32) + i * 16 * ROW);
#pragma unroll
        for (int j = 0; j < ACROSS / 2; j++) load_matrices(b_part[j], (b ^ k * 32) + j * 16 * ROW);
#pragma unroll
        for (int i = 0; i < DOWN; i++) {
#pragma unroll
            for (int j = 0; j < ACROSS; j++)
                mma(sum[i][j], a_part[i], b_part[j / 2][j % 2], b_part[j / 2][j % 2 + 2]);
        }
    }
}
/* END SOLUTION */

/* SOLUTION: store_row: what becomes of a row's sums: gelu and bf16, or gate and token (about 30
   lines). */
/** x / 2 * (1 + tanh(u)) = x / (1 + exp(-2 u)) */
__device__ static float gelu(float x)
{
    const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
    return __fdividef(x, 1.0f + __expf(-2.0f * u));
}

/** @param sum of the columns from col on, two of every eight; half: the first or the last two */
template <product P>
__device__ __forceinline__ static void store_row(const group &g, long row, long col,
                                                 const float (*sum)[4], int half)
{
    const int entry = P == SECOND ? g.permutation[row] : 0;
    const float gate = P == SECOND ? g.gates[entry] : 1.0f;
    float *to = g.output + (size_t)(entry / g.top_k) * g.cols;
#pragma unroll
    for (int j = 0; j < ACROSS; j++, col += 8) {
        const float *two = &sum[j][half * 2];
        if (col >= g.cols) continue;
        if (P == FIRST) {
            *(__nv_bfloat162 *)&g.hidden[(size_t)row * g.cols + col] =
                __floats2bfloat162_rn(gelu(two[0]), gelu(two[1]));
        } else {
            atomicAdd(&to[col], gate * two[0]);
            atomicAdd(&to[col + 1], gate * two[1]);
        }
    }
}
/* END SOLUTION */

/* SOLUTION: experts_kernel: tile after tile; the ring as in 4a, or simpler (about 45 lines). */
template <product P> __device__ static void make_tile(const tile &t, const group &g, uint32_t ring)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / 4 * DOWN * 16, warp_col = warp % 4 * ACROSS * 8;
    const bool idle = t.row + warp_row >= t.end || t.col + warp_col >= g.cols;
    const uint32_t at = lane % 16 * ROW + (lane / 16 ^ lane % 8) * 16;
    const uint32_t a_at = ring + warp_row * ROW + at, b_at = ring + (TILE + warp_col) * ROW + at;
    const source from = source_of<P>(t, g);
    const int steps = (g.inner + BK - 1) / BK;
    float sum[DOWN][ACROSS][4] = {};

    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) copy_stage(ring + s * STAGE, from, s * BK, g.inner);
        commit_copies();
    }
    for (int s = 0; s < steps; s++) {
        wait_for_copies<STAGES - 2>();
        __syncthreads(); /* this stage is complete, and nobody reads the one before any more */
        const int next = s + STAGES - 1;
        if (next < steps) copy_stage(ring + next % STAGES * STAGE, from, next * BK, g.inner);
        commit_copies(); /* an empty group too: what waits counts groups */
        if (!idle) multiply(sum, a_at + s % STAGES * STAGE, b_at + s % STAGES * STAGE);
    }
    __syncthreads(); /* all have read the last stage, before the next tile overwrites it */

#pragma unroll
    for (int i = 0; i < 2 * DOWN; i++) { /* lane l: two sums of row l / 4, two of l / 4 + 8 */
        const long row = t.row + warp_row + i * 8 + lane / 4;
        if (row < t.end) store_row<P>(g, row, t.col + warp_col + lane % 4 * 2, sum[i / 2], i % 2);
    }
}

template <product P> __global__ static void __launch_bounds__(THREADS, 2) experts_kernel(group g)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = (uint32_t)__cvta_generic_to_shared(shared);
    if (P == FIRST) { /* what the second launch adds to; it begins when this one is done */
        const size_t stride = (size_t)gridDim.x * THREADS;
        for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < g.outputs; i += stride)
            g.output[i] = 0.0f;
    }
    tile t = {0, 0, 0, 0, 0};
    for (long number = blockIdx.x; find_tile(&t, number, g); number += gridDim.x)
        make_tile<P>(t, g, ring);
}
/* END SOLUTION */

/* SOLUTION: launch: as many blocks as the device holds at once, and no more than there can be tiles
   (about 20 lines). */
template <product P> static cudaError_t launch(const group &g, long entries, cudaStream_t stream)
{
    int device, multiprocessors, each;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaFuncSetAttribute(experts_kernel<P>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    STAGES * STAGE));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, experts_kernel<P>, THREADS,
                                                             STAGES * STAGE));
    /* An expert's last tile may have one row: so each may have one more than its share. */
    const long tiles = (entries / TILE + g.experts) * ((g.cols + TILE - 1L) / TILE);
    long blocks = (long)multiprocessors * each;
    if (blocks > tiles) blocks = tiles > 0 ? tiles : 1;
    experts_kernel<P><<<(unsigned)blocks, THREADS, STAGES * STAGE, stream>>>(g);
    return cudaGetLastError();
}
/* END SOLUTION */

cudaError_t moe_experts_compute(float *output, __nv_bfloat16 *hidden, const __nv_bfloat16 *input,
                                const __nv_bfloat16 *const *expert_weights, const int *permutation,
                                const int *offsets, const float *gate_scores, int num_tokens,
                                int num_experts, int top_k, int hidden_dim, int ffn_dim,
                                cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || hidden_dim % 8 != 0 || ffn_dim % 8 != 0)
        return cudaErrorInvalidValue;
    /* SOLUTION: both launches; the second one's weights are the second half of the pointers (about
       10 lines). */
    if (num_tokens == 0 || hidden_dim == 0) return cudaSuccess; /* an empty grid is an error */
    const long entries = (long)num_tokens * top_k;
    group g = {output,      hidden,  input,       expert_weights,
               permutation, offsets, gate_scores, (size_t)num_tokens * hidden_dim,
               num_experts, top_k,   hidden_dim,  ffn_dim};
    CUDA_CHECK(launch<FIRST>(g, entries, stream));
    g.weights += num_experts, g.inner = ffn_dim, g.cols = hidden_dim;
    CUDA_CHECK(launch<SECOND>(g, entries, stream));
    /* END SOLUTION */
    return cudaSuccess;
}
