/*
 * 411_moe_router.cu: which experts work on which token, and each expert's list of tokens.
 *
 * The idea of the router: logits = input * gate_weights^T is a product with few columns, as many as
 * there are experts. So a block keeps all logits of 64 tokens to itself. It multiplies by tiles,
 * with DOWN x ACROSS sums per thread (214). The rows of both operands run along the sum, so both
 * tiles are plain copies, and a thread reads four floats of a row at once. Then the block has all
 * that softmax and top k need, and computes them directly: eight lanes share a token.
 *
 * The k-th choice needs no marks on the choices before it. The experts have an order: the larger
 * logit first, of equal ones the lower number. Each round takes the first that comes after the last
 * one.
 *
 * The idea of the lists: a stable counting sort. The tokens are cut into segments. First count, for
 * each segment and expert; then one block adds up and says where each expert's list begins; then
 * each segment is placed. In the first and the last step a thread is an expert, and walks along its
 * segment token by token. So the order is kept, and no thread needs an atomic.
 *
 * The cost removed: the scores take no trip through memory between product, softmax and top k, and
 * the order needs no sort. The cost left: fp32 multiply-adds. 16,384 tokens of 1,024 by 64 experts
 * are 2.1 GFLOP, which takes longer than reading the 64 MB of input; and a walking thread also
 * reads the choices of all other experts.
 *
 * Given: the product of 214 (copy_tile to tile_of_logits), block_scan (210), and the launches.
 * Yours: the order of the experts, softmax and gates; and the three kernels of the lists.
 */
#include "411_moe_router/moe_router.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include <cuda_pipeline.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>

/* ---- the product: given ---- */

#define TILE    64         /* TILE tokens x TILE experts a tile of logits */
#define STEP    32         /* terms of the sums that are in shared memory at a time */
#define PITCH   (STEP + 4) /* so that 8 rows begin in 8 different groups of banks */
#define THREADS 128        /* 8 down x 16 across */
#define DOWN    8          /* logits per thread down, 8 rows apart */
#define ACROSS  4          /* and across, 16 columns apart */
#define LANES   8          /* threads that share a token */

struct stage {
    float tokens[TILE][PITCH], experts[TILE][PITCH];
};

/** A tile whose corner is x[row][col]. EACH: floats a copy, 4 where rows begin at multiples of 16
 *  bytes. */
template <int EACH>
__device__ static void copy_tile(float (*tile)[PITCH], const float *x, long row, long rows, int col,
                                 int cols)
{
    for (int i = threadIdx.x * EACH; i < TILE * STEP; i += THREADS * EACH) {
        int r = i / STEP, c = i % STEP;
        bool inside = row + r < rows && col + c < cols;
        const float *from = inside ? x + (row + r) * cols + col + c : x;
        __pipeline_memcpy_async(&tile[r][c], from, EACH * sizeof(float),
                                inside ? 0 : EACH * sizeof(float));
    }
}

/** The next terms of both operands. They are on their way when this returns. */
template <int EACH>
__device__ static void copy_stage(stage *s, const float *input, const float *weights, long token,
                                  int tokens, int expert, int experts, int col, int cols)
{
    copy_tile<EACH>(s->tokens, input, token, tokens, col, cols);
    copy_tile<EACH>(s->experts, weights, expert, experts, col, cols);
    __pipeline_commit();
}

/** This thread's sums over the terms of one stage.
 *  @param y, x this thread's first row of either tile: the others are 8 and 16 further on */
__device__ static void multiply(float sum[DOWN][ACROSS], const stage *s, int y, int x)
{
#pragma unroll 2
    for (int k = 0; k < STEP; k += 4) {
        float4 a[DOWN], b[ACROSS];
#pragma unroll
        for (int i = 0; i < DOWN; i++) a[i] = *(const float4 *)&s->tokens[y + i * 8][k];
#pragma unroll
        for (int j = 0; j < ACROSS; j++) b[j] = *(const float4 *)&s->experts[x + j * 16][k];
#pragma unroll
        for (int i = 0; i < DOWN; i++) {
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                float part = fmaf(a[i].x, b[j].x, sum[i][j]);
                part = fmaf(a[i].y, b[j].y, part);
                part = fmaf(a[i].z, b[j].z, part);
                sum[i][j] = fmaf(a[i].w, b[j].w, part);
            }
        }
    }
}

/** TILE x TILE logits, from logits[token][expert] on. The next stage is on its way while this one
 *  is multiplied. Ends with a barrier: then all threads of the block may read what was written. */
template <int EACH>
__device__ static void tile_of_logits(float *logits, stage *stages, const float *input,
                                      const float *weights, long token, int tokens, int expert,
                                      int experts, int cols)
{
    /* A warp reads 4 rows of tokens and 8 of experts: together as few as there can be. */
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int y = warp / 2 * 4 + lane / 8, x = warp % 2 * 8 + lane % 8;
    float sum[DOWN][ACROSS] = {};
    copy_stage<EACH>(&stages[0], input, weights, token, tokens, expert, experts, 0, cols);
    for (int col = 0, now = 0; col < cols; col += STEP, now ^= 1) {
        __pipeline_wait_prior(0);
        __syncthreads(); /* this stage is complete, and no thread reads the other one any more */
        if (col + STEP < cols)
            copy_stage<EACH>(&stages[now ^ 1], input, weights, token, tokens, expert, experts,
                             col + STEP, cols);
        multiply(sum, &stages[now], y, x);
    }
#pragma unroll
    for (int i = 0; i < DOWN; i++) {
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            long t = token + y + i * 8;
            int e = expert + x + j * 16;
            if (t < tokens && e < experts) logits[t * experts + e] = sum[i][j];
        }
    }
    __syncthreads(); /* the logits are written, and the stages read */
}

/* ---- softmax and top k ---- */

struct choice {
    float logit;
    int expert;
};

/** The larger logit comes first; of equal ones, the lower expert. */
__device__ static bool comes_before(choice a, choice b)
{
    /* TODO: compare the logits, then the experts (about 1 line). */
    return {};
}

/** Of the experts of a token the first that comes after `last`. The LANES lanes of the token look
 *  together, lane l at experts l, l + LANES, ..., and all of them get the answer. NaN has no order:
 *  here it counts as -infinity. Without experts the answer is expert INT_MAX.
 *  @param logits [experts] */
__device__ static choice next_choice(const float *logits, int experts, choice last)
{
    /* TODO: each lane finds the first of its own experts that come after `last`. Then the lanes
       agree: __shfl_xor_sync of both fields, over 1, 2 and 4 lanes (about 11 lines). */
    return {};
}

/** Softmax, choices and gates of one token, by its LANES lanes.
 *  @param ids, gates [top_k]
 *  @param logits     [experts] become probabilities
 *  @param experts    0 for lanes without a token: they take part in the shuffles, and store nothing
 */
__device__ static void route_token(int *ids, float *gates, float *logits, int experts, int top_k)
{
    /* TODO: the first choice has the maximum that softmax subtracts; the lanes sum the
       exponentials. Choose top_k times, and let lane 0 store expert and probability. Then write the
       probabilities over the logits, and divide each gate by the sum of the gates, which another
       lane may have stored: __syncwarp (about 16 lines). */
}

/** A block for TILE tokens: all their logits, tile by tile, go to probs; then LANES threads take a
 *  token each. */
template <int EACH>
__global__ static void __launch_bounds__(THREADS)
    router_kernel(int *expert_ids, float *gate_scores, float *probs, const float *input,
                  const float *gate_weights, int tokens, int experts, int top_k, int cols)
{
    __shared__ __align__(16) stage stages[2];
    const long token = (long)blockIdx.x * TILE;
    /* TODO: tile_of_logits for every TILE experts. Then each group of LANES threads walks over
       the block's tokens and calls route_token, also for a token that is not there, with 0 experts
       (about 8 lines). */
}

cudaError_t moe_router(int *expert_ids, float *gate_scores, float *probs, const float *input,
                       const float *gate_weights, int num_tokens, int num_experts, int top_k,
                       int hidden_dim, cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || top_k > num_experts) return cudaErrorInvalidValue;
    /* TODO: without tokens there is no block, and an empty grid is a launch error (about 1
       line). */
    NOT_IMPLEMENTED(expert_ids, gate_scores, probs, input, gate_weights, num_tokens, num_experts,
                    top_k, hidden_dim, stream);
    const unsigned blocks = (unsigned)((num_tokens - 1) / TILE + 1);
    /* Copies of 16 bytes where rows begin at multiples of them. */
    const bool wide = hidden_dim % 4 == 0 && ((uintptr_t)input | (uintptr_t)gate_weights) % 16 == 0;
    if (wide)
        router_kernel<4><<<blocks, THREADS, 0, stream>>>(expert_ids, gate_scores, probs, input,
                                                         gate_weights, num_tokens, num_experts,
                                                         top_k, hidden_dim);
    else
        router_kernel<1><<<blocks, THREADS, 0, stream>>>(expert_ids, gate_scores, probs, input,
                                                         gate_weights, num_tokens, num_experts,
                                                         top_k, hidden_dim);
    return cudaGetLastError();
}

/* ---- the lists ---- */

struct lists {
    int tokens, experts, top_k, capacity;
    int segments; /* of all tokens: at most MOE_SEGMENTS */
    int length;   /* tokens of a segment; the last may have fewer */
};

/** The expert that this thread is, or one beyond the last. */
__device__ static int own_expert(void)
{
    return blockIdx.y * blockDim.x + threadIdx.x;
}

/** The entries of a segment end before this one. */
__device__ static int end_of(int segment, lists l)
{
    return min((long)l.tokens, (segment + 1L) * l.length) * l.top_k;
}

/** Block x is a segment, and each thread an expert: how many of the segment's entries are the
 *  expert's, and the sum of its probabilities over the segment's tokens.
 *  @param scratch    [segments x experts]
 *  @param expert_ids [tokens x top_k]
 *  @param probs      [tokens x experts] */
__global__ static void count_kernel(moe_segment *scratch, const int *expert_ids, const float *probs,
                                    lists l)
{
    /* TODO: walk over the segment's entries and count, walk over its tokens and add up, store.
       Its first token is blockIdx.x * length (about 8 lines). */
}

#define PLANNERS 1024

/** @return the sum of x over all threads before this one; *total: over all of the block. Every
 *  thread of the block calls it. */
template <typename T> __device__ static T block_scan(T x, T *total)
{
    __shared__ T of_warps[PLANNERS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = x, before = 0, all = 0;
    for (int distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(0xffffffffu, sum, distance);
        if (lane >= distance) sum += left;
    }
    if (lane == 31) of_warps[warp] = sum;
    __syncthreads(); /* all of of_warps is written before any thread reads it */
    for (int w = 0; w < PLANNERS / 32; w++) {
        if (w == warp) before = all;
        all += of_warps[w];
    }
    __syncthreads(); /* ... and read, before the next call overwrites it */
    *total = all;
    return before + sum - x;
}

/** One block, a thread for each of PLANNERS experts at a time: where the list of each expert
 *  begins, and the metrics. Without tokens all of these are 0.
 *  @param offsets [experts + 1]
 *  @param scratch [segments x experts] */
__global__ static void __launch_bounds__(PLANNERS)
    plan_kernel(int *offsets, moe_metrics *metrics, const moe_segment *scratch, lists l)
{
    /* TODO: each thread adds up its expert's segments, of which the list keeps at most
       `capacity` entries (0: all). block_scan of what is kept, plus what earlier rounds kept, is
       the offset; utilization counts dropped entries, too. One thread stores what is left: the last
       offset, the loss, which block_scan adds up, and how many were dropped (about 26 lines). */
}

/** Block x is a segment, and each thread an expert: stores the expert's entries in its list, and -1
 *  in those places of the segment that no list reaches.
 *  @param permutation [tokens x top_k]
 *  @param offsets     [experts + 1]
 *  @param expert_ids  [tokens x top_k]
 *  @param scratch     [segments x experts] */
__global__ static void place_kernel(int *permutation, const int *offsets, const int *expert_ids,
                                    const moe_segment *scratch, lists l)
{
    /* TODO: the lists end at offsets[experts]; the segment's threads share its places beyond.
       Then each thread adds up what earlier segments have of its expert, walks along its segment,
       and stores each entry of the expert behind these, as long as there is room. Thread
       own_expert() is one of gridDim.y * blockDim.x of the segment (about 13 lines). */
}

cudaError_t moe_permute(int *permutation, int *offsets, moe_metrics *metrics, moe_segment *scratch,
                        const int *expert_ids, const float *probs, int num_tokens, int num_experts,
                        int top_k, int capacity, cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || top_k > num_experts || capacity < 0)
        return cudaErrorInvalidValue;
    lists l = {num_tokens, num_experts, top_k, capacity, num_tokens > 0, num_tokens};
    /* TODO: this is one segment of all tokens. Cut it into at most MOE_SEGMENTS of equal
       length; without tokens there is none (about 2 lines). */
    NOT_IMPLEMENTED(permutation, offsets, metrics, scratch, expert_ids, probs, num_tokens,
                    num_experts, top_k, capacity, stream);
    dim3 threads(num_experts < 256 ? (num_experts + 31) / 32 * 32 : 256);
    dim3 grid(l.segments, (num_experts - 1) / threads.x + 1);
    if (num_tokens > 0) count_kernel<<<grid, threads, 0, stream>>>(scratch, expert_ids, probs, l);
    plan_kernel<<<1, PLANNERS, 0, stream>>>(offsets, metrics, scratch, l);
    if (num_tokens > 0)
        place_kernel<<<grid, threads, 0, stream>>>(permutation, offsets, expert_ids, scratch, l);
    return cudaGetLastError();
}
