// RIGHT: a warp takes 32 tokens, one after the other; the last block of a context merges
/*
 * There is no second kernel: blocks count themselves, and whoever comes last finds the parts of all
 * others in global memory.
 */
#include "410_paged_attention/paged_attention.h"
#include <cuda_bf16.h>
#include <math.h>

constexpr int WARPS = 8, HEADS = 8, COLUMNS = 4, CUT = 512; /* COLUMNS of a lane */
constexpr float NOTHING = -1e30f;

struct Shape {
    int q_heads, kv_heads, page, max_pages, dim, cuts;
    float scale;
    int group() const
    {
        return q_heads / kv_heads;
    }
    int rounds() const
    {
        return (group() + HEADS - 1) / HEADS;
    }
};

/* What was seen of one query head: by a warp, a block or all of them. */
struct State {
    float top, weight;
    float sum[32 * COLUMNS];
};

__device__ static float column_of(const __nv_bfloat16 *x, int column, int dim)
{
    return column < dim ? __bfloat162float(x[column]) : 0.0f;
}

/* One column of several states. */
__device__ static float mix(const State *const *states, int count, int column, float *top,
                            float *weight)
{
    float sum = 0.0f;
    *top = NOTHING, *weight = 0.0f;
    for (int i = 0; i < count; i++) *top = fmaxf(*top, (*states)[i].top);
    for (int i = 0; i < count; i++) {
        const float by = expf((*states)[i].top - *top);
        *weight += by * (*states)[i].weight;
        sum += by * (*states)[i].sum[column];
    }
    return sum;
}

/* blockIdx.x: cut, round of 8 heads, head of the cache, sequence. counters: one for each row of
 * blocks that differ in the cut only */
__global__ static void __launch_bounds__(32 * WARPS)
    attend(__nv_bfloat16 *out, State *states, unsigned *counters, const __nv_bfloat16 *q,
           const __nv_bfloat16 *k, const __nv_bfloat16 *v, const int *table, const int *lengths,
           Shape s, int group, int rounds)
{
    __shared__ State warps[WARPS];
    __shared__ float query[HEADS][32 * COLUMNS];
    __shared__ bool last;
    const unsigned team = blockIdx.x / s.cuts;
    const int cut = blockIdx.x % s.cuts, round = team % rounds, kv = team / rounds % s.kv_heads;
    const int sequence = team / rounds / s.kv_heads, length = lengths[sequence];
    const int heads = min(HEADS, group - round * HEADS);
    const size_t first = (size_t)sequence * s.q_heads + (size_t)kv * group + round * HEADS;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    float sum[HEADS][COLUMNS] = {};
    float top[HEADS], weight[HEADS] = {};
    for (int h = 0; h < HEADS; h++) top[h] = NOTHING;
    for (int i = threadIdx.x; i < heads * 32 * COLUMNS; i += blockDim.x) {
        const int h = i / (32 * COLUMNS), column = i % (32 * COLUMNS);
        query[h][column] = column_of(q + (first + h) * s.dim, column, s.dim);
    }
    __syncthreads();
    const int end = min(length, (cut + 1) * CUT);
    size_t place = 0; /* of the token that this lane looked up */
    for (int t = cut * CUT + 32 * warp, in_32 = 0; t < end; t++) {
        if (in_32 == 0 && t + lane < end) {
            const int mine = t + lane;
            place = (size_t)sequence * s.page + mine;
            if (table)
                place = (size_t)table[(size_t)sequence * s.max_pages + mine / s.page] * s.page +
                        mine % s.page;
        }
        const size_t row = __shfl_sync(0xffffffff, (unsigned long long)place, in_32);
        const size_t at = (row * s.kv_heads + kv) * s.dim;
        if (++in_32 == 32) in_32 = 0, t += 32 * (WARPS - 1);
        float key[COLUMNS], value[COLUMNS];
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            key[i] = column_of(k + at, lane + 32 * i, s.dim);
            value[i] = column_of(v + at, lane + 32 * i, s.dim);
        }
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            if (h >= heads) continue;
            float score = 0.0f;
#pragma unroll
            for (int i = 0; i < COLUMNS; i++) score += query[h][lane + 32 * i] * key[i];
            for (int d = 16; d; d >>= 1) score += __shfl_xor_sync(0xffffffff, score, d);
            score *= s.scale;
            const float next = fmaxf(top[h], score), old = expf(top[h] - next);
            const float p = expf(score - next);
            top[h] = next;
            weight[h] = weight[h] * old + p;
#pragma unroll
            for (int i = 0; i < COLUMNS; i++) sum[h][i] = sum[h][i] * old + p * value[i];
        }
    }

    const State *of_warps = warps;
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h >= heads) continue;
        warps[warp].top = top[h], warps[warp].weight = weight[h];
        for (int i = 0; i < COLUMNS; i++) warps[warp].sum[lane + 32 * i] = sum[h][i];
        __syncthreads();
        State *mine = &states[(first + h) * s.cuts + cut];
        for (int c = threadIdx.x; c < s.dim; c += blockDim.x) {
            float t, w;
            mine->sum[c] = mix(&of_warps, WARPS, c, &t, &w);
            if (c == 0) mine->top = t, mine->weight = w;
        }
        __syncthreads();
    }

    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&counters[team], 1u) == (unsigned)s.cuts - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int i = threadIdx.x; i < heads * s.dim; i += blockDim.x) {
        const State *parts = &states[(first + i / s.dim) * s.cuts];
        float t, w;
        const float x = mix(&parts, s.cuts, i % s.dim, &t, &w);
        out[first * s.dim + i] = __float2bfloat16(w == 0.0f ? 0.0f : x / w);
    }
}

static cudaError_t decode(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                          const __nv_bfloat16 *v, const int *table, const int *lengths,
                          int sequences, Shape s, cudaStream_t stream)
{
    if (sequences < 0 || s.q_heads < 0 || s.kv_heads < 0 || s.page < 0 || s.max_pages < 0 ||
        s.dim < 0 || s.dim % 8 || s.dim > 32 * COLUMNS ||
        (s.kv_heads ? s.q_heads % s.kv_heads : s.q_heads))
        return cudaErrorInvalidValue;
    if (sequences == 0 || s.q_heads == 0 || s.dim == 0) return cudaSuccess;
    s.cuts = (int)(((size_t)s.page * s.max_pages + CUT - 1) / CUT);
    if (s.cuts == 0) s.cuts = 1;
    const size_t teams = (size_t)sequences * s.kv_heads * s.rounds();
    const size_t parts = (size_t)sequences * s.q_heads * s.cuts;
    char *scratch;
    cudaError_t error =
        cudaMallocAsync(&scratch, parts * sizeof(State) + teams * sizeof(unsigned), stream);
    if (error) return error;
    unsigned *counters = (unsigned *)(scratch + parts * sizeof(State));
    error = cudaMemsetAsync(counters, 0, teams * sizeof(unsigned), stream);
    if (!error) {
        attend<<<(unsigned)(teams * s.cuts), 32 * WARPS, 0, stream>>>(
            out, (State *)scratch, counters, q, k, v, table, lengths, s, s.group(), s.rounds());
        error = cudaGetLastError();
    }
    const cudaError_t freed = cudaFreeAsync(scratch, stream);
    return error ? error : freed;
}

cudaError_t multi_query_attention(__nv_bfloat16 *out, const __nv_bfloat16 *q,
                                  const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                                  const int *context_lengths, int sequences, int q_heads,
                                  int kv_heads, int max_context, int dim, float scale,
                                  cudaStream_t stream)
{
    const Shape s = {q_heads, kv_heads, max_context, 1, dim, 0, scale};
    return decode(out, q, k, v, nullptr, context_lengths, sequences, s, stream);
}

cudaError_t attention_paged(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k_pool,
                            const __nv_bfloat16 *v_pool, const int *block_table,
                            const int *context_lengths, int sequences, int q_heads, int kv_heads,
                            int page, int max_pages, int dim, float scale, cudaStream_t stream)
{
    if (page < 1) return cudaErrorInvalidValue;
    const Shape s = {q_heads, kv_heads, page, max_pages, dim, 0, scale};
    return decode(out, q, k_pool, v_pool, block_table, context_lengths, sequences, s, stream);
}
