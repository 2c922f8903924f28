// RIGHT: 16 lanes per token, tiles of 32 tokens in shared memory; one warp per expert makes its
// list
#include "411_moe_router/moe_router.h"
#include <math.h>

/* ---- router: 32 tokens x 32 experts a tile, 256 threads of 2 x 2; logits go to probs */

__global__ static void routes(int *ids, float *gates, float *probs, const float *x, const float *w,
                              int tokens, int experts, int k, int d)
{
    __shared__ float xs[32][33], ws[32][33];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const size_t top = (size_t)blockIdx.x * 32;
    for (int left = 0; left < experts; left += 32) {
        float s00 = 0, s01 = 0, s10 = 0, s11 = 0;
        for (int c = 0; c < d; c += 32) {
            for (int i = threadIdx.x; i < 32 * 32; i += 256) {
                const int r = i / 32, q = c + i % 32;
                xs[r][i % 32] = top + r < tokens && q < d ? x[(top + r) * d + q] : 0.0f;
                ws[r][i % 32] = left + r < experts && q < d ? w[(size_t)(left + r) * d + q] : 0.0f;
            }
            __syncthreads();
            for (int q = 0; q < 32; q++) {
                const float a0 = xs[ty][q], a1 = xs[ty + 16][q], b0 = ws[tx][q],
                            b1 = ws[tx + 16][q];
                s00 += a0 * b0, s01 += a0 * b1, s10 += a1 * b0, s11 += a1 * b1;
            }
            __syncthreads();
        }
        const float s[2][2] = {{s00, s01}, {s10, s11}};
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                const size_t t = top + ty + 16 * i;
                const int e = left + tx + 16 * j;
                if (t < tokens && e < experts) probs[t * experts + e] = s[i][j];
            }
    }
    __syncthreads();

    for (int round = 0; round < 2; round++) {
        const size_t t = top + ty + 16 * round;
        const int mine = t < tokens ? experts : 0;
        float *row = probs + t * experts;
        float max = 0, sum = 0, last = INFINITY, all = 0;
        int before = -1;
        for (int j = 0; j < k; j++) {
            float best = -INFINITY;
            int at = 0x7fffffff;
            for (int e = tx; e < mine; e += 16) {
                const float v = row[e] == row[e] ? row[e] : -INFINITY;
                const bool later = v < last || (v == last && e > before);
                if (later && (at == 0x7fffffff || v > best)) best = v, at = e;
            }
            for (int o = 8; o > 0; o >>= 1) {
                const float v = __shfl_xor_sync(~0u, best, o);
                const int e = __shfl_xor_sync(~0u, at, o);
                if (v > best || (v == best && e < at)) best = v, at = e;
            }
            if (j == 0) {
                max = best;
                for (int e = tx; e < mine; e += 16) sum += expf(row[e] - max);
                for (int o = 8; o > 0; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
            }
            last = best, before = at;
            const float p = expf(best - max) / sum;
            all += p;
            if (tx == 0 && mine) ids[t * k + j] = at, gates[t * k + j] = p;
        }
        for (int e = tx; e < mine; e += 16) row[e] = expf(row[e] - max) / sum;
        for (int j = 0; j < k && tx == 0 && mine; j++) gates[t * k + j] /= all;
    }
}

cudaError_t moe_router(int *expert_ids, float *gate_scores, float *probs, const float *input,
                       const float *gate_weights, int num_tokens, int num_experts, int top_k,
                       int hidden_dim, cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || top_k > num_experts) return cudaErrorInvalidValue;
    if (num_tokens)
        routes<<<(num_tokens - 1) / 32 + 1, 256, 0, stream>>>(expert_ids, gate_scores, probs, input,
                                                              gate_weights, num_tokens, num_experts,
                                                              top_k, hidden_dim);
    return cudaGetLastError();
}

/* ---- lists: a warp per expert goes over all entries, twice */

__global__ static void tally(int *kept, moe_metrics *m, float *products, const int *ids,
                             const float *probs, int tokens, int experts, int k, int capacity)
{
    const int e = blockIdx.x, lane = threadIdx.x;
    int count = 0;
    float p = 0;
    for (int i = lane; i < tokens * k; i += 32) count += ids[i] == e;
    for (int t = lane; t < tokens; t += 32) p += probs[(size_t)t * experts + e];
    for (int o = 16; o > 0; o >>= 1) {
        count += __shfl_xor_sync(~0u, count, o);
        p += __shfl_xor_sync(~0u, p, o);
    }
    if (lane) return;
    kept[e] = capacity && count > capacity ? capacity : count;
    const float share = tokens ? count / ((float)tokens * k) : 0;
    m->expert_utilization[e] = share;
    products[e] = tokens ? share * p / tokens : 0;
}

__global__ static void add_up(int *offsets, moe_metrics *m, const int *kept, const float *products,
                              int experts, int entries)
{
    int at = 0;
    float loss = 0;
    for (int e = 0; e < experts; e++) {
        offsets[e] = at;
        at += kept[e], loss += products[e];
    }
    offsets[experts] = at;
    m->load_balance_loss = loss * experts;
    m->dropped_tokens = entries - at;
}

__global__ static void enlist(int *permutation, const int *offsets, const int *ids, int entries)
{
    const int e = blockIdx.x, lane = threadIdx.x, end = offsets[e + 1];
    int at = offsets[e];
    for (int i = lane; i - lane < entries; i += 32) {
        const bool mine = i < entries && ids[i] == e;
        const unsigned all = __ballot_sync(~0u, mine);
        const int to = at + __popc(all & ((1u << lane) - 1));
        if (mine && to < end) permutation[to] = i;
        at += __popc(all);
    }
    if (e) return;
    for (int i = offsets[gridDim.x] + lane; i < entries; i += 32) permutation[i] = -1;
}

cudaError_t moe_permute(int *permutation, int *offsets, moe_metrics *metrics, moe_segment *scratch,
                        const int *expert_ids, const float *probs, int num_tokens, int num_experts,
                        int top_k, int capacity, cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || top_k > num_experts || capacity < 0)
        return cudaErrorInvalidValue;
    int *kept = (int *)scratch;
    float *products = (float *)(kept + num_experts);
    tally<<<num_experts, 32, 0, stream>>>(kept, metrics, products, expert_ids, probs, num_tokens,
                                          num_experts, top_k, capacity);
    add_up<<<1, 1, 0, stream>>>(offsets, metrics, kept, products, num_experts, num_tokens * top_k);
    enlist<<<num_experts, 32, 0, stream>>>(permutation, offsets, expert_ids, num_tokens * top_k);
    return cudaGetLastError();
}
