/*
 * attention_3xtf32.cuh: attention in fp32 on tensor cores, forward and backward.
 *
 * Three kernels as in 4c and 4d, with the products of 4g: a number is hi + lo, both TF32, and a
 * product is lo hi + hi lo + hi hi. A head has 64 channels. Queries, keys and values are rows of
 * tokens, [batch x seq x 3 x heads x 64], as a linear layer leaves them: nothing is moved by heads.
 *
 * A block has 64 rows, 16 a warp, and walks along tiles of 64 rows of the other side. A product
 * reads b's fragments word by word; rows of 64 + 4 floats put them in 32 different banks, whether
 * they run along k or across it. Weights are taken as `mma` left them: lane l has the columns
 * 2 (l % 4) and the next of a product. They are its columns l % 4 and l % 4 + 4 of k if b's rows
 * come in the same order.
 *
 * The cost left: b is split again by each of the four warps; scores and the gradients of weights
 * are computed twice, as in 4d.
 */
#ifndef ATTENTION_3XTF32_CUH
#define ATTENTION_3XTF32_CUH

#include "tensor_core.h"
#include <math.h>
#include <stddef.h>

#define TILE         64 /* rows of a block, rows of a stage, channels of a head */
#define TILE_THREADS 128
#define LOG2_E       1.4426950408889634f

typedef float tile[TILE][TILE + 4];
typedef float sums[TILE / 8][4]; /* of a warp: 16 x 64 */

/** An operand of all heads: row r of head h of sequence b is at x + (b seq + r) pitch + 64 h. */
struct attention_rows {
    float *x;
    int pitch;
};

struct attention_shape {
    int batch, heads, seq;
    float scale;
};

/** What a block has of an operand: its head. */
__device__ __forceinline__ static float *head_of(attention_rows rows, attention_shape a)
{
    const int head = blockIdx.y % a.heads, sequence = blockIdx.y / a.heads;
    return rows.x + (size_t)sequence * a.seq * rows.pitch + head * TILE;
}

/** to = rows `row`, `row` + 1, ... of a head; zeros behind the last one. */
__device__ __forceinline__ static void copy_rows(tile &to, const float *x, int pitch, int row,
                                                 int seq)
{
#pragma unroll 4
    for (int i = threadIdx.x; i < TILE * TILE / 4; i += TILE_THREADS) {
        const int r = i / (TILE / 4), c = i % (TILE / 4) * 4;
        const bool inside = row + r < seq;
        cp_async_cg(shared_address(&to[r][c]), x + (size_t)(inside ? row + r : 0) * pitch + c,
                    inside);
    }
}

/** x = hi, rounded to 11 bits; @return lo */
__device__ __forceinline__ static uint32_t split(uint32_t *x)
{
    const float whole = __uint_as_float(*x);
    *x = (*x + 0x1000) & ~UINT32_C(0x1fff);
    return __float_as_uint(whole - __uint_as_float(*x));
}

#define GROUP 4 /* products of a step that take turns: each waits for the one before on its sum */

/** sum += a b of 8 of k, the s-th. b's rows run along k, or across it.
 *  @param a its fragment, not split */
template <bool ALONG>
__device__ __forceinline__ static void multiply_step(sums &sum, uint32_t a[4], const tile &b, int s)
{
    const int lane = threadIdx.x % 32;
    uint32_t a_lo[4];
#pragma unroll
    for (int i = 0; i < 4; i++) a_lo[i] = split(&a[i]);
#pragma unroll
    for (int first = 0; first < TILE / 8; first += GROUP) {
        uint32_t hi[GROUP][2], lo[GROUP][2];
#pragma unroll
        for (int i = 0; i < 2 * GROUP; i++) {
            const int j = first + i / 2, half = i % 2;
            const float *from = ALONG ? &b[j * 8 + lane / 4][s * 8 + lane % 4 + half * 4]
                                      : &b[s * 8 + lane % 4 * 2 + half][j * 8 + lane / 4];
            hi[i / 2][half] = __float_as_uint(*from);
            lo[i / 2][half] = split(&hi[i / 2][half]);
        }
#pragma unroll
        for (int i = 0; i < GROUP; i++) mma_tf32(sum[first + i], a_lo, hi[i]);
#pragma unroll
        for (int i = 0; i < GROUP; i++) mma_tf32(sum[first + i], a, lo[i]);
#pragma unroll
        for (int i = 0; i < GROUP; i++) mma_tf32(sum[first + i], a, hi[i]);
    }
}

/** sum = a b^T, of this warp's 16 rows of a. */
__device__ __forceinline__ static void multiply_rows(sums &sum, const tile &a, const tile &b)
{
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16;
    const uint32_t at = shared_address(&a[row + lane % 16][lane / 16 * 4]);
#pragma unroll
    for (int i = 0; i < 4 * TILE / 8; i++) sum[i / 4][i % 4] = 0.0f;
#pragma unroll
    for (int s = 0; s < TILE / 8; s++) {
        uint32_t part[4];
        ldmatrix(part, at + s * 32);
        multiply_step<true>(sum, part, b, s);
    }
}

/** sum += weights b. The product of a tile is a sum of its own, which an addition that rounds takes
 *  over: the tensor core cuts off. */
__device__ __forceinline__ static void multiply_weights(sums &sum, const sums &weights,
                                                        const tile &b)
{
    sums part = {};
#pragma unroll
    for (int s = 0; s < TILE / 8; s++) {
        uint32_t a[4] = {__float_as_uint(weights[s][0]), __float_as_uint(weights[s][2]),
                         __float_as_uint(weights[s][1]), __float_as_uint(weights[s][3])};
        multiply_step<false>(part, a, b, s);
    }
#pragma unroll
    for (int i = 0; i < 4 * TILE / 8; i++) sum[i / 4][i % 4] += part[i / 4][i % 4];
}

/** The row of the block's tile to which element e of this lane's sums belongs. */
__device__ __forceinline__ static int sum_row(int e)
{
    return threadIdx.x % 32 / 4 + threadIdx.x / 32 * 16 + e / 2 * 8;
}

/** The column of the scores that element e of product j is in: a row of the stage's tile. */
__device__ __forceinline__ static int sum_col(int j, int e)
{
    return threadIdx.x % 4 * 2 + e % 2 + j * 8;
}

/** This warp's rows of a head, from `row` of the block on, times factor[2] of a lane's two rows. */
__device__ __forceinline__ static void store_rows(attention_rows to, attention_shape a,
                                                  const sums &sum, int row, const float factor[2])
{
    float *x = head_of(to, a);
#pragma unroll
    for (int i = 0; i < 2 * TILE / 8; i++) {
        const int j = i / 2, half = i % 2, r = row + sum_row(2 * half);
        if (r >= a.seq) continue;
        *(float2 *)&x[(size_t)r * to.pitch + sum_col(j, 0)] =
            make_float2(sum[j][2 * half] * factor[half], sum[j][2 * half + 1] * factor[half]);
    }
}

/** Of two lanes' quarter: the four lanes that have a row. */
__device__ __forceinline__ static float row_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ __forceinline__ static float row_sum(float x)
{
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

/** Of a query: lse in base 2, and D, the sum of grad_out * out (4d). */
struct alignas(8) row_terms {
    float lse, d;
};

struct attention_stage {
    tile a, b;
};

struct attention_tiles {
    tile a, b;
    attention_stage stage[2];
    row_terms queries[2][TILE]; /* of the two stages */
};

/** @param lse [batch x heads x seq], in base 2 */
__global__ static void __launch_bounds__(TILE_THREADS, 2)
    forward_kernel(attention_rows out, float *lse, attention_rows q, attention_rows k,
                   attention_rows v, attention_shape a)
{
    extern __shared__ __align__(16) unsigned char shared[];
    attention_tiles *t = (attention_tiles *)shared;
    const float *keys = head_of(k, a), *values = head_of(v, a), base_2 = a.scale * LOG2_E;
    const int query = blockIdx.x * TILE;
    float high[2] = {-INFINITY, -INFINITY}, all[2] = {};
    sums o = {};
    copy_rows(t->a, head_of(q, a), q.pitch, query, a.seq);
    copy_rows(t->stage[0].a, keys, k.pitch, 0, a.seq);
    copy_rows(t->stage[0].b, values, v.pitch, 0, a.seq);
    for (int key = 0, now = 0; key < a.seq; key += TILE, now ^= 1) {
        attention_stage *next = &t->stage[now ^ 1];
        sums s;
        cp_async_wait_all();
        __syncthreads(); /* this stage is complete, and no thread reads the other one any more */
        if (key + TILE < a.seq) {
            copy_rows(next->a, keys, k.pitch, key + TILE, a.seq);
            copy_rows(next->b, values, v.pitch, key + TILE, a.seq);
        }
        multiply_rows(s, t->a, t->stage[now].a);
        float top[2] = {high[0], high[1]};
#pragma unroll
        for (int i = 0; i < 4 * TILE / 8; i++) {
            float *one = &s[i / 4][i % 4];
            *one = key + sum_col(i / 4, i) < a.seq ? *one * base_2 : -INFINITY;
            top[i % 4 / 2] = fmaxf(top[i % 4 / 2], *one);
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            top[half] = row_max(top[half]);
            const float shrink = exp2f(high[half] - top[half]);
            high[half] = top[half], all[half] *= shrink;
#pragma unroll
            for (int j = 0; j < TILE / 8; j++)
                o[j][2 * half] *= shrink, o[j][2 * half + 1] *= shrink;
        }
#pragma unroll
        for (int i = 0; i < 4 * TILE / 8; i++) {
            float *one = &s[i / 4][i % 4];
            *one = exp2f(*one - high[i % 4 / 2]);
            all[i % 4 / 2] += *one;
        }
        multiply_weights(o, s, t->stage[now].b);
    }
    float factor[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int row = query + sum_row(2 * half);
        all[half] = row_sum(all[half]);
        factor[half] = 1.0f / all[half];
        if (threadIdx.x % 4 == 0 && row < a.seq)
            lse[(size_t)blockIdx.y * a.seq + row] = high[half] + log2f(all[half]);
    }
    store_rows(out, a, o, query, factor);
}

/** A warp per row of a head: lane l has the channels l and l + 32. */
__global__ static void sums_kernel(row_terms *to, const float *lse, attention_rows grad_out,
                                   attention_rows out, attention_shape a)
{
    const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= a.seq) return;
    const float *g = head_of(grad_out, a) + (size_t)row * grad_out.pitch;
    const float *o = head_of(out, a) + (size_t)row * out.pitch;
    float d = g[lane] * o[lane] + g[lane + 32] * o[lane + 32];
    for (int by = 16; by > 0; by /= 2) d += __shfl_xor_sync(0xffffffffu, d, by);
    const size_t at = (size_t)blockIdx.y * a.seq + row;
    if (lane == 0) to[at] = {lse[at], d};
}

/** A block has 64 keys and walks along the queries. */
__global__ static void __launch_bounds__(TILE_THREADS, 2)
    keys_kernel(attention_rows grad_k, attention_rows grad_v, attention_rows grad_out,
                const row_terms *of_queries, attention_rows q, attention_rows k, attention_rows v,
                attention_shape a)
{
    extern __shared__ __align__(16) unsigned char shared[];
    attention_tiles *t = (attention_tiles *)shared;
    const float *queries = head_of(q, a), *grads = head_of(grad_out, a);
    const float base_2 = a.scale * LOG2_E, scales[2] = {a.scale, a.scale}, ones[2] = {1.0f, 1.0f};
    const int key = blockIdx.x * TILE, i = threadIdx.x;
    sums of_k = {}, of_v = {};
    of_queries += (size_t)blockIdx.y * a.seq;
    copy_rows(t->a, head_of(k, a), k.pitch, key, a.seq);
    copy_rows(t->b, head_of(v, a), v.pitch, key, a.seq);
    copy_rows(t->stage[0].a, queries, q.pitch, 0, a.seq);
    copy_rows(t->stage[0].b, grads, grad_out.pitch, 0, a.seq);
    for (int query = 0, now = 0; query < a.seq; query += TILE, now ^= 1) {
        attention_stage *stage = &t->stage[now], *next = &t->stage[now ^ 1];
        sums s, d;    /* [keys x queries] */
        if (i < TILE) /* of none: a weight of 2^-infinity */
            t->queries[now][i] =
                query + i < a.seq ? of_queries[query + i] : row_terms{INFINITY, 0.0f};
        cp_async_wait_all();
        __syncthreads(); /* this stage is complete, and no thread reads the other one any more */
        if (query + TILE < a.seq) {
            copy_rows(next->a, queries, q.pitch, query + TILE, a.seq);
            copy_rows(next->b, grads, grad_out.pitch, query + TILE, a.seq);
        }
        multiply_rows(s, t->a, stage->a);
#pragma unroll
        for (int i = 0; i < 4 * TILE / 8; i++)
            s[i / 4][i % 4] =
                exp2f(s[i / 4][i % 4] * base_2 - t->queries[now][sum_col(i / 4, i)].lse);
        multiply_weights(of_v, s, stage->b);
        multiply_rows(d, t->b, stage->b);
#pragma unroll
        for (int i = 0; i < 4 * TILE / 8; i++)
            s[i / 4][i % 4] *= d[i / 4][i % 4] - t->queries[now][sum_col(i / 4, i)].d;
        multiply_weights(of_k, s, stage->a);
    }
    store_rows(grad_k, a, of_k, key, scales);
    store_rows(grad_v, a, of_v, key, ones);
}

/** A block has 64 queries and walks along the keys. */
__global__ static void __launch_bounds__(TILE_THREADS, 2)
    queries_kernel(attention_rows grad_q, attention_rows grad_out, const row_terms *of_queries,
                   attention_rows q, attention_rows k, attention_rows v, attention_shape a)
{
    extern __shared__ __align__(16) unsigned char shared[];
    attention_tiles *t = (attention_tiles *)shared;
    const float *keys = head_of(k, a), *values = head_of(v, a);
    const float base_2 = a.scale * LOG2_E, scales[2] = {a.scale, a.scale};
    const int query = blockIdx.x * TILE;
    row_terms terms[2] = {};
    sums of_q = {};
    for (int half = 0; half < 2; half++) {
        const int row = query + sum_row(2 * half);
        if (row < a.seq) terms[half] = of_queries[(size_t)blockIdx.y * a.seq + row];
    }
    copy_rows(t->a, head_of(q, a), q.pitch, query, a.seq);
    copy_rows(t->b, head_of(grad_out, a), grad_out.pitch, query, a.seq);
    copy_rows(t->stage[0].a, keys, k.pitch, 0, a.seq);
    copy_rows(t->stage[0].b, values, v.pitch, 0, a.seq);
    for (int key = 0, now = 0; key < a.seq; key += TILE, now ^= 1) {
        attention_stage *stage = &t->stage[now], *next = &t->stage[now ^ 1];
        sums s, d; /* [queries x keys] */
        cp_async_wait_all();
        __syncthreads(); /* this stage is complete, and no thread reads the other one any more */
        if (key + TILE < a.seq) {
            copy_rows(next->a, keys, k.pitch, key + TILE, a.seq);
            copy_rows(next->b, values, v.pitch, key + TILE, a.seq);
        }
        multiply_rows(s, t->a, stage->a);
        multiply_rows(d, t->b, stage->b);
#pragma unroll
        for (int i = 0; i < 4 * TILE / 8; i++) {
            const row_terms of = terms[i % 4 / 2];
            const float weight = exp2f(s[i / 4][i % 4] * base_2 - of.lse);
            s[i / 4][i % 4] =
                key + sum_col(i / 4, i) < a.seq ? weight * (d[i / 4][i % 4] - of.d) : 0.0f;
        }
        multiply_weights(of_q, s, stage->a);
    }
    store_rows(grad_q, a, of_q, query, scales);
}

static inline dim3 attention_grid(attention_shape a, int rows)
{
    return dim3((a.seq - 1) / rows + 1, a.batch * a.heads);
}

template <typename kernel_type> static cudaError_t allow_tiles(kernel_type *kernel)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                sizeof(attention_tiles));
}

/** out = softmax(scale q k^T) v in each head. */
static inline cudaError_t attention_forward(attention_rows out, float *lse, attention_rows q,
                                            attention_rows k, attention_rows v, attention_shape a,
                                            cudaStream_t stream)
{
    const cudaError_t error = allow_tiles(forward_kernel);
    if (error != cudaSuccess) return error;
    forward_kernel<<<attention_grid(a, TILE), TILE_THREADS, sizeof(attention_tiles), stream>>>(
        out, lse, q, k, v, a);
    return cudaGetLastError();
}

/** @param room [batch x heads x seq] */
static inline cudaError_t attention_backward(attention_rows grad_q, attention_rows grad_k,
                                             attention_rows grad_v, row_terms *room,
                                             attention_rows grad_out, attention_rows out,
                                             const float *lse, attention_rows q, attention_rows k,
                                             attention_rows v, attention_shape a,
                                             cudaStream_t stream)
{
    const size_t bytes = sizeof(attention_tiles);
    cudaError_t error = allow_tiles(keys_kernel);
    if (error == cudaSuccess) error = allow_tiles(queries_kernel);
    if (error != cudaSuccess) return error;
    sums_kernel<<<attention_grid(a, 4), 128, 0, stream>>>(room, lse, grad_out, out, a);
    keys_kernel<<<attention_grid(a, TILE), TILE_THREADS, bytes, stream>>>(grad_k, grad_v, grad_out,
                                                                          room, q, k, v, a);
    queries_kernel<<<attention_grid(a, TILE), TILE_THREADS, bytes, stream>>>(grad_q, grad_out, room,
                                                                             q, k, v, a);
    return cudaGetLastError();
}

#endif
