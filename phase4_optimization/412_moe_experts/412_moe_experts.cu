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
 *
 * On a Hopper GPU, large calls take 412_hopper.cuh instead: the same scheduler and the same way of
 * a row, but wgmma multiplies.
 *
 * Given: the structs, the copies of a stage, a warp's product, gelu, and the launch; and, in
 * tensor_core.h, the instructions. Yours: the scheduler, where a row comes from and where it goes,
 * and the loop of a tile.
 */
#include "412_moe_experts/moe_experts.h"
#include "cuda_check.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include "tensor_core.h"
#include <cuda_bf16.h>
#include <stdint.h>

#define TILE    128 /* TILE x TILE elements of a product a block */
#define BK      64
#define ROW     (BK * 2) /* bytes of a row of a tile: 8 chunks */
#define STAGE   (2 * TILE * ROW)
#define STAGES  3
#define THREADS 256 /* 8 warps: 2 down, 4 across */
#define DOWN    4   /* products of 16 x 8 that a warp has, down and across */
#define ACROSS  4
#define COPIES  (TILE * 8 / THREADS) /* chunks a thread, of either tile */

/* ---- the scheduler ---- */

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
    int tile_cols;   /* columns of a tile: TILE */
};

/** A tile of an expert's product: its corner, and where the expert's rows end. */
struct tile {
    int expert;
    long first; /* the number of this expert's first tile */
    long row, col, end;
};

/** Go on to tile `number` of all experts' tiles, which does not come before the one that *t is. The
 *  tiles of an expert are numbered row by row.
 *  @param t set, but for a first time, by the last call
 *  @return is there one? */
__device__ static bool find_tile(tile *t, long number, const group &g)
{
    /* TODO: walk on from t->expert. An expert's rows are offsets[expert] to
       offsets[expert + 1] - 1, its tiles ceil(rows / TILE) down, ceil(cols / tile_cols) across.
       When `number` is among them, set end, row and col; else add their number to first and go on
       (about 12 lines). */
    return {};
}

/* ---- copies: a thread has chunks of 8 elements, 16 bytes, of either operand ---- */

/** A thread copies one chunk of every 32nd row, so that its places in the swizzle are the same. */
struct source {
    const __nv_bfloat16 *a[COPIES], *b; /* its chunks at the sums' first terms; NULL: no such row */
    int b_rows;                         /* rows of the weights from its first one on */
    uint32_t to;                        /* its first place in a tile */
};

/** Where this thread's chunks of a tile lie. For the first product row r of x is the token of entry
 *  permutation[r], and for the second it is row r of hidden. */
template <product P> __device__ static source source_of(const tile &t, const group &g)
{
    const int r = threadIdx.x / 8, chunk = threadIdx.x % 8;
    source s;
    for (int i = 0; i < COPIES; i++) {
        const long row = t.row + r + i * (THREADS / 8);
        /* TODO: chunk `chunk` of this row, whose rows have g.inner elements; NULL for a row
           that is not the expert's. P is known when the code is compiled (about 6 lines). */
    }
    s.b = g.weights[t.expert] + (size_t)(t.col + r) * g.inner + chunk * 8;
    s.b_rows = (int)(g.cols - t.col - r);
    s.to = r * ROW + (chunk ^ r % 8) * 16;
    return s;
}

/** Start to copy the terms of the sums from k on, of both operands; zeros beyond their ends. */
__device__ __forceinline__ static void copy_stage(uint32_t stage, const source &s, int k, int inner)
{
    const bool inside = k + threadIdx.x % 8 * 8 < inner;
#pragma unroll
    for (int i = 0; i < COPIES; i++) {
        const int rows = i * (THREADS / 8);
        const bool a_inside = inside && s.a[i] != NULL, b_inside = inside && rows < s.b_rows;
        cp_async_cg(stage + s.to + rows * ROW, a_inside ? s.a[i] + k : s.b, a_inside);
        cp_async_cg(stage + TILE * ROW + s.to + rows * ROW,
                    b_inside ? s.b + (size_t)rows * inner + k : s.b, b_inside);
    }
}

/* ---- products ---- */

/** A warp's sums over the terms of one stage.
 *  @param a, b where this lane's row of the warp's first matrices lies. To move by whole chunks is
 *  to change bits of the chunk's number, which the swizzle leaves to xor. */
__device__ __forceinline__ static void multiply(float sum[DOWN][ACROSS][4], uint32_t a, uint32_t b)
{
#pragma unroll
    for (int k = 0; k < BK / 16; k++) {
        uint32_t a_part[DOWN][4], b_part[ACROSS / 2][4];
#pragma unroll
        for (int i = 0; i < DOWN; i++) ldmatrix(a_part[i], (a ^ k * 32) + i * 16 * ROW);
#pragma unroll
        for (int j = 0; j < ACROSS / 2; j++) ldmatrix(b_part[j], (b ^ k * 32) + j * 16 * ROW);
#pragma unroll
        for (int i = 0; i < DOWN; i++) {
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                const uint32_t two[2] = {b_part[j / 2][j % 2], b_part[j / 2][j % 2 + 2]};
                mma_bf16(sum[i][j], a_part[i], two);
            }
        }
    }
}

/** x / 2 * (1 + tanh(u)) = x / (1 + exp(-2 u)) */
__device__ static float gelu(float x)
{
    const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
    return __fdividef(x, 1.0f + __expf(-2.0f * u));
}

/** What becomes of a row's sums: the first product ends with gelu and goes to hidden; the second
 *  one is added, times its gate, to the token that it belongs to.
 *  @param sum [count] of the columns from col on, two of every eight; half: the first or the last
 *  two */
template <product P>
__device__ __forceinline__ static void store_row(const group &g, long row, long col,
                                                 const float (*sum)[4], int count, int half)
{
    /* TODO: sum[j][2 half] belongs to column col + 8 j, the sum behind it to the next column; g
       has cols of them, an even number. FIRST stores two bf16 at once (__floats2bfloat162_rn).
       SECOND adds by atomicAdd, since other blocks have the token's other entries; its entry is
       permutation[row] (about 15 lines). */
}

/** All of one tile. @param ring STAGES stages in shared memory, each a tile of either operand */
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

    /* TODO: `steps` stages of BK terms go through the ring, stage s at ring + s % STAGES *
       STAGE. Copy STAGES - 1 of them ahead, a group each. Each step waits for its own, passes a
       barrier, copies the stage STAGES - 1 further on, and multiplies, unless the warp is idle. A
       step commits a group also where nothing is left to copy: what waits counts groups. A barrier
       ends the tile (about 13 lines). */

#pragma unroll
    for (int i = 0; i < 2 * DOWN; i++) { /* lane l: two sums of row l / 4, two of l / 4 + 8 */
        const long row = t.row + warp_row + i * 8 + lane / 4;
        if (row < t.end)
            store_row<P>(g, row, t.col + warp_col + lane % 4 * 2, sum[i / 2], ACROSS, i % 2);
    }
}

/** All blocks of a launch together. */
__device__ static void clear_output(const group &g)
{
    /* TODO: (about 3 lines). */
}

/** Block b makes tiles b, b + gridDim.x, ..., of all experts. */
template <product P> __global__ static void __launch_bounds__(THREADS, 2) experts_kernel(group g)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t ring = shared_address(shared);
    /* TODO: the blocks of the first product clear output, for the second launch to add to. Then
       find_tile and make_tile, from expert 0 on, until there is no tile (about 4 lines). */
}

#include "412_hopper.cuh"

/** As many blocks as the device holds at once (407), and no more than there can be tiles. On a
 * Hopper GPU, launch_wgmma if its larger tiles, those that are full, are enough for half of the
 *  multiprocessors. */
template <product P> static cudaError_t launch(const group &g, long entries, cudaStream_t stream)
{
    int device, multiprocessors, each;
#if TENSOR_MAPS
    const long across = (g.cols + H_COLS - 1L) / H_COLS;
    multiprocessors = hopper_multiprocessors();
    if (multiprocessors > 0 && entries / TILE * across >= multiprocessors / 2)
        return launch_wgmma<P>(g, (entries / TILE + g.experts) * across, multiprocessors, stream);
#endif
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaFuncSetAttribute(experts_kernel<P>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    STAGES * STAGE));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, experts_kernel<P>, THREADS,
                                                             STAGES * STAGE));
    long blocks = (long)multiprocessors * each;
    /* TODO: only the device knows the offsets. How many tiles can there be at most, with
       `entries` rows in all? At least one block clears output (about 3 lines). */
    NOT_IMPLEMENTED(g, entries, stream);
    experts_kernel<P><<<(unsigned)blocks, THREADS, STAGES * STAGE, stream>>>(g);
    return cudaGetLastError();
}

cudaError_t moe_experts_compute(float *output, __nv_bfloat16 *hidden, const __nv_bfloat16 *input,
                                const __nv_bfloat16 *const *expert_weights, const int *permutation,
                                const int *offsets, const float *gate_scores, int num_tokens,
                                int num_experts, int top_k, int hidden_dim, int ffn_dim,
                                cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || hidden_dim % 8 != 0 || ffn_dim % 8 != 0)
        return cudaErrorInvalidValue;
    /* TODO: without tokens, or where hidden_dim is 0, there is nothing to do. Where ffn_dim is
       0, output is cleared all the same (about 1 line). */
    NOT_IMPLEMENTED(output, hidden, input, expert_weights, permutation, offsets, gate_scores,
                    num_tokens, num_experts, top_k, hidden_dim, ffn_dim, stream);
    const long entries = (long)num_tokens * top_k;
    group g = {output,      hidden,  input,       expert_weights,
               permutation, offsets, gate_scores, (size_t)num_tokens * hidden_dim,
               num_experts, top_k,   hidden_dim,  ffn_dim,
               TILE};
    /* TODO: launch the first product. For the second one change what differs, and launch it:
       the down matrices are the second half of the pointers (about 3 lines). */
    return cudaSuccess;
}
