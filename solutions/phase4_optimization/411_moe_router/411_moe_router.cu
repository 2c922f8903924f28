/*
 * 411_moe_router.cu: which experts shall work on which token, and the lists that the experts work
 * through.
 *
 * The idea of the router: logits = input * gate_weights^T is a product with few columns, as many as
 * there are experts. So a block keeps all logits of 64 tokens to itself. It multiplies by tiles,
 * with DOWN x ACROSS sums a thread (214). Both operands lie along the sum, so both tiles are plain
 * copies, and a thread reads four floats of a row at once. Then the block has what softmax and
 * top k need, and does them at once: eight lanes share a token.
 *
 * The k-th choice needs no marks on those before it. The experts have an order: the larger logit
 * first, of equal ones the lower number. Each round takes the first that comes after the last one.
 *
 * The idea of the lists: a stable counting sort. The tokens are cut into segments. First count, for
 * each segment and expert; then one block adds up and says where each expert's list begins; then
 * each segment is placed. In the first and the last step a thread is an expert, and walks along its
 * segment token by token. So the order is kept by itself, and nobody needs an atomic.
 *
 * The cost removed: the scores take no trip through memory between product, softmax and top k, and
 * the order needs no sort. The cost left: fp32 multiply-adds. 16,384 tokens of 1,024 by 64 experts
 * are 2.1 GFLOP, more time than the reading of the 64 MB of input; and a walking thread looks at
 * the choices of all other experts, too.
 */
#include "411_moe_router/moe_router.h"
#include "not_implemented.h"
#include <cuda_pipeline.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>

/* SOLUTION: the sizes, and the copy of a tile, zero outside the matrix (about 35 lines). */
#define TILE    64         /* TILE tokens x TILE experts a tile of logits */
#define STEP    32         /* terms of the sums that are in shared memory at a time */
#define PITCH   (STEP + 4) /* so that 8 rows begin in 8 different groups of banks */
#define THREADS 128        /* 8 down x 16 across */
#define DOWN    8          /* logits a thread, each the next but 7 ... */
#define ACROSS  4          /* ... and the next but 15 */
#define LANES   8          /* that share a token */

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

template <int EACH>
__device__ static void copy_stage(stage *s, const float *input, const float *weights, long token,
                                  int tokens, int expert, int experts, int col, int cols)
{
    copy_tile<EACH>(s->tokens, input, token, tokens, col, cols);
    copy_tile<EACH>(s->experts, weights, expert, experts, col, cols);
    __pipeline_commit();
}
/* END SOLUTION */

/* SOLUTION: multiply: this thread's sums over the terms of one stage (about 20 lines). */
/** @param y, x this thread's first row of either tile: the others are 8 and 16 further on */
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
/* END SOLUTION */

/* SOLUTION: tile_of_logits: TILE x TILE logits, with the next stage on its way while this one is
   multiplied (about 30 lines). */
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
        __syncthreads(); /* this stage is complete, and nobody reads the other one any more */
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
/* END SOLUTION */

/* SOLUTION: next_choice: of a token's experts the first that comes after `last`; LANES lanes look
   together (about 27 lines). */
struct choice {
    float logit;
    int expert;
};

/** The larger logit comes first; of equal ones, the lower expert. */
__device__ static bool comes_before(choice a, choice b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.expert < b.expert);
}

__device__ static choice next_choice(const float *logits, int experts, choice last)
{
    choice best = {-INFINITY, INT_MAX};
    for (int e = threadIdx.x % LANES; e < experts; e += LANES) {
        choice c = {isnan(logits[e]) ? -INFINITY : logits[e], e}; /* NaN has no place in an order */
        if (comes_before(last, c) && comes_before(c, best)) best = c;
    }
    for (int distance = 1; distance < LANES; distance *= 2) {
        choice other = {__shfl_xor_sync(0xffffffffu, best.logit, distance),
                        __shfl_xor_sync(0xffffffffu, best.expert, distance)};
        if (comes_before(other, best)) best = other;
    }
    return best;
}
/* END SOLUTION */

/* SOLUTION: route_token: softmax, the choices, the gates; the logits become probabilities (about 23
   lines). */
/** @param experts 0 for lanes that have no token: they take part in the shuffles alone */
__device__ static void route_token(int *ids, float *gates, float *logits, int experts, int top_k)
{
    const int lane = threadIdx.x % LANES;
    const choice first = next_choice(logits, experts, (choice){INFINITY, -1});
    float sum = 0.0f, chosen = 0.0f;
    for (int e = lane; e < experts; e += LANES) sum += expf(logits[e] - first.logit);
    for (int distance = 1; distance < LANES; distance *= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);

    choice c = first;
    for (int j = 0; j < top_k; j++) {
        float prob = expf(c.logit - first.logit) / sum;
        if (lane == 0 && experts > 0) ids[j] = c.expert, gates[j] = prob;
        chosen += prob;
        if (j + 1 < top_k) c = next_choice(logits, experts, c);
    }
    for (int e = lane; e < experts; e += LANES) logits[e] = expf(logits[e] - first.logit) / sum;
    __syncwarp(); /* lane 0 has stored the gates */
    for (int j = lane; j < top_k && experts > 0; j += LANES) gates[j] /= chosen;
}
/* END SOLUTION */

/* SOLUTION: router_kernel: a block TILE tokens: their logits, tile by tile, to probs; then each
   token (about 20 lines). */
template <int EACH>
__global__ static void __launch_bounds__(THREADS)
    router_kernel(int *expert_ids, float *gate_scores, float *probs, const float *input,
                  const float *gate_weights, int tokens, int experts, int top_k, int cols)
{
    __shared__ __align__(16) stage stages[2];
    const long token = (long)blockIdx.x * TILE;
    for (int expert = 0; expert < experts; expert += TILE)
        tile_of_logits<EACH>(probs, stages, input, gate_weights, token, tokens, expert, experts,
                             cols);
    for (int i = threadIdx.x / LANES; i < TILE; i += THREADS / LANES) {
        const long t = token + i;
        route_token(expert_ids + t * top_k, gate_scores + t * top_k, probs + t * experts,
                    t < tokens ? experts : 0, top_k);
    }
}
/* END SOLUTION */

cudaError_t moe_router(int *expert_ids, float *gate_scores, float *probs, const float *input,
                       const float *gate_weights, int num_tokens, int num_experts, int top_k,
                       int hidden_dim, cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || top_k > num_experts) return cudaErrorInvalidValue;
    /* SOLUTION: a block for TILE tokens; by 16 bytes where rows begin at multiples of them (about 9
       lines). */
    if (num_tokens == 0) return cudaSuccess; /* an empty grid is a launch error */
    const unsigned blocks = (unsigned)((num_tokens - 1) / TILE + 1);
    const bool wide = hidden_dim % 4 == 0 && ((uintptr_t)input | (uintptr_t)gate_weights) % 16 == 0;
    if (wide)
        router_kernel<4><<<blocks, THREADS, 0, stream>>>(expert_ids, gate_scores, probs, input,
                                                         gate_weights, num_tokens, num_experts,
                                                         top_k, hidden_dim);
    else
        router_kernel<1><<<blocks, THREADS, 0, stream>>>(expert_ids, gate_scores, probs, input,
                                                         gate_weights, num_tokens, num_experts,
                                                         top_k, hidden_dim);
    /* END SOLUTION */
    return cudaGetLastError();
}

/* SOLUTION: what the three kernels of the lists are given, and the tokens of a segment (about 19
   lines). */
struct lists {
    int tokens, experts, top_k, capacity;
    int segments; /* that have tokens, or should: at most MOE_SEGMENTS */
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
/* END SOLUTION */

/* SOLUTION: count_kernel: a block a segment, a thread an expert: its entries, and the sum of its
   probabilities (about 14 lines). */
__global__ static void count_kernel(moe_segment *scratch, const int *expert_ids, const float *probs,
                                    lists l)
{
    const int e = own_expert(), begin = blockIdx.x * l.length, end = end_of(blockIdx.x, l);
    if (e >= l.experts) return;
    moe_segment of = {0, 0.0f};
#pragma unroll 8
    for (int i = begin * l.top_k; i < end; i++) of.entries += expert_ids[i] == e;
#pragma unroll 8
    for (int t = begin; t < end / l.top_k; t++) of.probs += probs[(size_t)t * l.experts + e];
    scratch[(size_t)blockIdx.x * l.experts + e] = of;
}
/* END SOLUTION */

/* SOLUTION: block_scan: the sum of x over all threads before this one, and in *total over all of
   the block (about 20 lines). */
#define PLANNERS 1024

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
    __syncthreads(); /* all of of_warps is written before anybody reads it */
    for (int w = 0; w < PLANNERS / 32; w++) {
        if (w == warp) before = all;
        all += of_warps[w];
    }
    __syncthreads(); /* ... and read, before the next call overwrites it */
    *total = all;
    return before + sum - x;
}
/* END SOLUTION */

/* SOLUTION: plan_kernel, one block: how many entries each expert has and keeps, where its list
   begins, and the metrics (about 32 lines). */
__global__ static void __launch_bounds__(PLANNERS)
    plan_kernel(int *offsets, moe_metrics *metrics, const moe_segment *scratch, lists l)
{
    const float entries = (float)l.tokens * l.top_k;
    int carry = 0, kept_by_all;
    float loss = 0.0f, sum;
    for (int first = 0; first < l.experts; first += PLANNERS) {
        const int e = first + threadIdx.x;
        moe_segment all = {0, 0.0f};
#pragma unroll 8
        for (int s = 0; s < l.segments && e < l.experts; s++) {
            const moe_segment part = scratch[(size_t)s * l.experts + e];
            all.entries += part.entries, all.probs += part.probs;
        }
        const int kept = l.capacity > 0 ? min(all.entries, l.capacity) : all.entries;
        const int before = block_scan(kept, &kept_by_all);
        if (e < l.experts) {
            const float share = l.tokens > 0 ? all.entries / entries : 0.0f;
            offsets[e] = carry + before;
            metrics->expert_utilization[e] = share;
            loss += l.tokens > 0 ? share * (all.probs / l.tokens) : 0.0f;
        }
        carry += kept_by_all;
    }
    block_scan(loss, &sum);
    if (threadIdx.x != 0) return;
    offsets[l.experts] = carry;
    metrics->load_balance_loss = l.experts * sum;
    metrics->dropped_tokens = l.tokens * l.top_k - carry;
}
/* END SOLUTION */

/* SOLUTION: place_kernel: each thread walks along its segment once more, and stores its entries
   behind those of the segments before; what is left of permutation becomes -1 (about 20 lines). */
__global__ static void place_kernel(int *permutation, const int *offsets, const int *expert_ids,
                                    const moe_segment *scratch, lists l)
{
    const int e = own_expert(), begin = blockIdx.x * l.length * l.top_k;
    const int end = end_of(blockIdx.x, l), used = offsets[l.experts];
    for (int i = begin + own_expert(); i < end; i += gridDim.y * blockDim.x) {
        if (i >= used) permutation[i] = -1; /* nobody's: so many were dropped */
    }
    if (e >= l.experts) return;
    int rank = 0;
#pragma unroll 8
    for (int s = 0; s < blockIdx.x; s++) rank += scratch[(size_t)s * l.experts + e].entries;
    const int first = offsets[e], room = offsets[e + 1] - first;
#pragma unroll 8
    for (int i = begin; i < end; i++) {
        if (expert_ids[i] != e) continue;
        if (rank < room) permutation[first + rank] = i;
        rank++;
    }
}
/* END SOLUTION */

cudaError_t moe_permute(int *permutation, int *offsets, moe_metrics *metrics, moe_segment *scratch,
                        const int *expert_ids, const float *probs, int num_tokens, int num_experts,
                        int top_k, int capacity, cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || top_k > num_experts || capacity < 0)
        return cudaErrorInvalidValue;
    /* SOLUTION: segments of equal length; count, plan, place; no tokens still make a plan (about 12
       lines). */
    lists l = {num_tokens, num_experts, top_k, capacity, 0, 0};
    l.length = (num_tokens + MOE_SEGMENTS - 1L) / MOE_SEGMENTS;
    l.segments = num_tokens > 0 ? (num_tokens - 1) / l.length + 1 : 0;
    dim3 threads(num_experts < 256 ? (num_experts + 31) / 32 * 32 : 256);
    dim3 grid(l.segments, (num_experts - 1) / threads.x + 1);
    if (num_tokens > 0) count_kernel<<<grid, threads, 0, stream>>>(scratch, expert_ids, probs, l);
    plan_kernel<<<1, PLANNERS, 0, stream>>>(offsets, metrics, scratch, l);
    if (num_tokens > 0)
        place_kernel<<<grid, threads, 0, stream>>>(permutation, offsets, expert_ids, scratch, l);
    /* END SOLUTION */
    return cudaGetLastError();
}
