/*
 * baseline.cu: what 410 is timed and counted against. baseline_paged_read reads the keys and values
 * of all sequences once, in the order in which they lie, and does nothing with them: the roof.
 * baseline_paged_heads has a block per query head, whose warps walk along the whole context one
 * token at a time.
 */
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>

#define BLOCK 256
#define MOST  4 /* of 32 elements of a row */

typedef __nv_bfloat16 bf16;

__global__ static void read_kernel(bf16 *out, const uint4 *k, const uint4 *v, size_t count)
{
    const size_t step = (size_t)gridDim.x * BLOCK;
    unsigned bits = 0;
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x; i < count; i += step) {
        const uint4 a = __ldcs(k + i), b = __ldcs(v + i);
        bits |= (a.x ^ b.x) + (a.y ^ b.y) + (a.z ^ b.z) + (a.w ^ b.w);
    }
    if (bits == 0x12345678) *out = 0; /* hardly ever: but the loads must be done */
}

__device__ static float warp_sum(float x)
{
    for (int apart = 16; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
    return x;
}

__global__ static void heads_kernel(bf16 *out, const bf16 *q, const bf16 *k, const bf16 *v,
                                    const int *table, const int *lengths, int q_heads, int kv_heads,
                                    int page, int max_pages, int dim, float scale)
{
    __shared__ float sums[BLOCK / 32][32 * MOST], largest[BLOCK / 32], weights[BLOCK / 32];
    const int sequence = blockIdx.x / q_heads, head = blockIdx.x % q_heads;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float most = -1e30f, weight = 0.0f, sum[MOST] = {};
    q += (size_t)blockIdx.x * dim;
    for (int t = warp; t < lengths[sequence]; t += BLOCK / 32) {
        const size_t number = table[(size_t)sequence * max_pages + t / page];
        const size_t row =
            ((number * page + t % page) * kv_heads + head / (q_heads / kv_heads)) * dim;
        float product = 0.0f;
        for (int i = lane; i < dim; i += 32) product += (float)q[i] * (float)k[row + i];
        const float score = scale * warp_sum(product), next = fmaxf(most, score);
        const float shrink = expf(most - next), p = expf(score - next);
        weight = weight * shrink + p;
        for (int i = 0; i < MOST && lane + 32 * i < dim; i++)
            sum[i] = sum[i] * shrink + p * (float)v[row + lane + 32 * i];
        most = next;
    }
    for (int i = 0; i < MOST; i++) sums[warp][lane + 32 * i] = sum[i];
    largest[warp] = most, weights[warp] = weight;
    __syncthreads();
    for (int d = threadIdx.x; d < dim; d += BLOCK) {
        float all = -1e30f, total = 0.0f, x = 0.0f;
        for (int w = 0; w < BLOCK / 32; w++) all = fmaxf(all, largest[w]);
        for (int w = 0; w < BLOCK / 32; w++) {
            total += weights[w] * expf(largest[w] - all);
            x += sums[w][d] * expf(largest[w] - all);
        }
        out[(size_t)blockIdx.x * dim + d] = __float2bfloat16(total == 0.0f ? 0.0f : x / total);
    }
}

extern "C" cudaError_t baseline_paged_read(bf16 *out, const bf16 *q, const bf16 *k, const bf16 *v,
                                           const int *table, const int *lengths, int sequences,
                                           int q_heads, int kv_heads, int page, int max_pages,
                                           int dim, float scale, cudaStream_t stream)
{
    (void)q, (void)table, (void)lengths, (void)q_heads, (void)scale;
    const size_t count = (size_t)sequences * page * max_pages * kv_heads * dim / 8;
    read_kernel<<<132 * 8, BLOCK, 0, stream>>>(out, (const uint4 *)k, (const uint4 *)v, count);
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_paged_heads(bf16 *out, const bf16 *q, const bf16 *k, const bf16 *v,
                                            const int *table, const int *lengths, int sequences,
                                            int q_heads, int kv_heads, int page, int max_pages,
                                            int dim, float scale, cudaStream_t stream)
{
    heads_kernel<<<sequences * q_heads, BLOCK, 0, stream>>>(out, q, k, v, table, lengths, q_heads,
                                                            kv_heads, page, max_pages, dim, scale);
    return cudaGetLastError();
}
