// RIGHT: a stretch of 384 tokens a block, its scores in shared memory; then a thread per column | nvcc
/*
 * Three steps with barriers between them: a warp per token for the scores of up to eight heads, a
 * warp per head for their exponentials, a thread per column for the values.
 */
#include "410_paged_attention/paged_attention.h"
#include <cuda_bf16.h>
#include <math.h>

#define STRETCH 384 /* tokens */
#define THREADS 256
#define HEADS   8
#define WIDEST  128

struct problem {
    const __nv_bfloat16 *q, *k, *v;
    const int *table, *lengths;
    int q_heads, kv_heads, page, max_pages, dim, stretches, groups;
    float scale;
};

struct stretch_result {
    float highest, total;
};

__device__ static size_t offset_of(const problem &p, int sequence, int t, int kv_head)
{
    size_t row;
    if (p.table != nullptr)
        row = (size_t)p.table[(size_t)sequence * p.max_pages + t / p.page] * p.page + t % p.page;
    else
        row = (size_t)sequence * p.page + t;
    return (row * p.kv_heads + kv_head) * p.dim;
}

/* blockIdx.x: stretch, then group of heads, then head of the cache, then sequence */
__global__ static void stretch_kernel(float *sums, stretch_result *results, problem p)
{
    __shared__ float q[HEADS][WIDEST], weight[HEADS][STRETCH], halves[HEADS][WIDEST];
    __shared__ size_t offsets[STRETCH];
    const int stretch = blockIdx.x % p.stretches, group = blockIdx.x / p.stretches % p.groups;
    const int kv_head = blockIdx.x / p.stretches / p.groups % p.kv_heads;
    const int sequence = blockIdx.x / p.stretches / p.groups / p.kv_heads;
    const int shared_by = p.q_heads / p.kv_heads, heads = min(HEADS, shared_by - group * HEADS);
    const size_t row = (size_t)sequence * p.q_heads + kv_head * shared_by + group * HEADS;
    const int from = stretch * STRETCH, count = min(STRETCH, p.lengths[sequence] - from);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int t = threadIdx.x; t < count; t += THREADS)
        offsets[t] = offset_of(p, sequence, from + t, kv_head);
    for (int i = threadIdx.x; i < heads * p.dim; i += THREADS)
        q[i / p.dim][i % p.dim] = p.scale * __bfloat162float(p.q[row * p.dim + i]);
    __syncthreads();

    for (int t = warp; t < count; t += THREADS / 32) {
        const __nv_bfloat16 *key = p.k + offsets[t];
        float k[WIDEST / 32];
        for (int i = 0; i < WIDEST / 32; i++)
            k[i] = lane + 32 * i < p.dim ? __bfloat162float(key[lane + 32 * i]) : 0.0f;
        for (int h = 0; h < heads; h++) {
            float dot = 0.0f;
            for (int i = 0; i < WIDEST / 32 && lane + 32 * i < p.dim; i++)
                dot += q[h][lane + 32 * i] * k[i];
            for (int d = 16; d > 0; d /= 2) dot += __shfl_down_sync(~0u, dot, d);
            if (lane == 0) weight[h][t] = dot;
        }
    }
    __syncthreads();

    if (warp < heads) {
        stretch_result r = {-INFINITY, 0.0f};
        bool strange = false; /* a NaN, which no maximum shows */
        for (int t = lane; t < count; t += 32) {
            r.highest = fmaxf(r.highest, weight[warp][t]);
            strange = strange || isnan(weight[warp][t]);
        }
        for (int d = 16; d > 0; d /= 2)
            r.highest = fmaxf(r.highest, __shfl_xor_sync(~0u, r.highest, d));
        if (__any_sync(~0u, strange)) r.highest = 0.0f;
        for (int t = lane; t < count; t += 32)
            r.total += weight[warp][t] = expf(weight[warp][t] - r.highest);
        for (int d = 16; d > 0; d /= 2) r.total += __shfl_xor_sync(~0u, r.total, d);
        if (lane == 0) results[(row + warp) * p.stretches + stretch] = r;
    }
    __syncthreads();

    const int column = threadIdx.x % WIDEST, half = threadIdx.x / WIDEST;
    float sum[HEADS] = {};
    for (int t = half; t < count && column < p.dim; t += 2) {
        const float v = __bfloat162float(p.v[offsets[t] + column]);
#pragma unroll
        for (int h = 0; h < HEADS; h++)
            if (h < heads) sum[h] += weight[h][t] * v;
    }
    for (int h = 0; h < heads && half == 1; h++) halves[h][column] = sum[h];
    __syncthreads();
#pragma unroll
    for (int h = 0; h < HEADS; h++)
        if (h < heads && half == 0 && column < p.dim)
            sums[((row + h) * p.stretches + stretch) * p.dim + column] = sum[h] + halves[h][column];
}

__global__ static void finish_kernel(__nv_bfloat16 *out, const float *sums,
                                     const stretch_result *results, int stretches, int dim)
{
    const stretch_result *r = results + (size_t)blockIdx.x * stretches;
    const float *part = sums + (size_t)blockIdx.x * stretches * dim;
    float highest = -INFINITY, total = 0.0f, sum = 0.0f;
    for (int i = 0; i < stretches; i++) highest = fmaxf(highest, r[i].highest);
    for (int i = 0; i < stretches; i++) {
        if (r[i].total == 0.0f) continue; /* beyond the context */
        const float factor = expf(r[i].highest - highest);
        total += factor * r[i].total;
        sum += factor * part[(size_t)i * dim + threadIdx.x];
    }
    if (total != 0.0f) sum /= total;
    out[(size_t)blockIdx.x * dim + threadIdx.x] = __float2bfloat16(sum);
}

static cudaError_t run(__nv_bfloat16 *out, problem p, int sequences, cudaStream_t stream)
{
    if (sequences < 0 || p.q_heads < 0 || p.kv_heads < 0 || p.dim < 0 || p.dim % 8 != 0 ||
        p.dim > WIDEST || p.page < 0 || p.max_pages < 0)
        return cudaErrorInvalidValue;
    if (p.kv_heads == 0 ? p.q_heads != 0 : p.q_heads % p.kv_heads != 0)
        return cudaErrorInvalidValue;
    if (sequences == 0 || p.q_heads == 0 || p.dim == 0) return cudaSuccess;
    p.stretches = max(1, (int)(((size_t)p.page * p.max_pages + STRETCH - 1) / STRETCH));
    p.groups = (p.q_heads / p.kv_heads + HEADS - 1) / HEADS;
    const size_t rows = (size_t)sequences * p.q_heads, parts = rows * p.stretches;
    float *sums = nullptr;
    stretch_result *results = nullptr;
    cudaError_t error = cudaMallocAsync(&sums, parts * p.dim * sizeof *sums, stream);
    if (error == cudaSuccess) error = cudaMallocAsync(&results, parts * sizeof *results, stream);
    if (error == cudaSuccess) {
        stretch_kernel<<<(size_t)sequences * p.kv_heads * p.groups * p.stretches, THREADS, 0,
                         stream>>>(sums, results, p);
        finish_kernel<<<rows, p.dim, 0, stream>>>(out, sums, results, p.stretches, p.dim);
        error = cudaGetLastError();
    }
    if (results != nullptr) cudaFreeAsync(results, stream);
    if (sums != nullptr) cudaFreeAsync(sums, stream);
    return error;
}

cudaError_t multi_query_attention(__nv_bfloat16 *out, const __nv_bfloat16 *q,
                                  const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                                  const int *context_lengths, int sequences, int q_heads,
                                  int kv_heads, int max_context, int dim, float scale,
                                  cudaStream_t stream)
{
    problem p = {q, k, v, nullptr, context_lengths, q_heads, kv_heads, max_context, 1, dim};
    p.scale = scale;
    return run(out, p, sequences, stream);
}

cudaError_t attention_paged(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k_pool,
                            const __nv_bfloat16 *v_pool, const int *block_table,
                            const int *context_lengths, int sequences, int q_heads, int kv_heads,
                            int page, int max_pages, int dim, float scale, cudaStream_t stream)
{
    if (page == 0) return cudaErrorInvalidValue;
    problem p = {q,       k_pool,   v_pool, block_table, context_lengths,
                 q_heads, kv_heads, page,   max_pages,   dim};
    p.scale = scale;
    return run(out, p, sequences, stream);
}
