// RIGHT: lanes are experts and a warp has eight tokens; the lists are written by a single thread
#include "411_moe_router/moe_router.h"
#include <math.h>

#define EIGHT 8
#define CHUNK 32

typedef struct pick {
    float value;
    int expert;
} pick;

__device__ static pick larger(pick a, pick b)
{
    if (a.value != b.value) return a.value > b.value ? a : b;
    return a.expert < b.expert ? a : b;
}

__device__ static float sum_of_warp(float x)
{
    for (int d = 1; d < 32; d *= 2) x += __shfl_xor_sync(~0u, x, d);
    return x;
}

__device__ static pick next_of(const float *row, int experts, pick last)
{
    pick best = {-INFINITY, 1 << 30};
    for (int e = threadIdx.x; e < experts; e += 32) {
        pick p = {row[e], e};
        if (isnan(p.value)) p.value = -INFINITY;
        if (p.value > last.value || (p.value == last.value && e <= last.expert)) continue;
        best = larger(best, p);
    }
    for (int d = 1; d < 32; d *= 2) {
        pick other = {__shfl_xor_sync(~0u, best.value, d), __shfl_xor_sync(~0u, best.expert, d)};
        best = larger(best, other);
    }
    return best;
}

__global__ static void eight_tokens(int *ids, float *gates, float *probs, const float *input,
                                    const float *weights, int tokens, int experts, int top_k,
                                    int dim)
{
    __shared__ float w[64][CHUNK + 1], x[8][EIGHT][CHUNK];
    const int lane = threadIdx.x, warp = threadIdx.y;
    const long base = ((long)blockIdx.x * 8 + warp) * EIGHT;
    for (int from = 0; from < experts; from += 64) {
        float low[EIGHT] = {0}, high[EIGHT] = {0};
        for (int c = 0; c < dim; c += CHUNK) {
            __syncthreads();
            for (int r = warp; r < 64; r += 8)
                w[r][lane] = from + r < experts && c + lane < dim
                                 ? weights[(long)(from + r) * dim + c + lane]
                                 : 0.0f;
            for (int t = 0; t < EIGHT; t++)
                x[warp][t][lane] =
                    base + t < tokens && c + lane < dim ? input[(base + t) * dim + c + lane] : 0.0f;
            __syncthreads();
            for (int i = 0; i < CHUNK; i++)
                for (int t = 0; t < EIGHT; t++) {
                    low[t] += w[lane][i] * x[warp][t][i];
                    high[t] += w[lane + 32][i] * x[warp][t][i];
                }
        }
        for (int t = 0; t < EIGHT && base + t < tokens; t++) {
            if (from + lane < experts) probs[(base + t) * experts + from + lane] = low[t];
            if (from + lane + 32 < experts)
                probs[(base + t) * experts + from + lane + 32] = high[t];
        }
    }
    __syncwarp();
    for (int t = 0; t < EIGHT && base + t < tokens; t++) {
        float *row = probs + (base + t) * experts, sum = 0, of_chosen = 0;
        pick p = next_of(row, experts, (pick){INFINITY, -1});
        const float top = p.value;
        for (int e = lane; e < experts; e += 32) sum += expf(row[e] - top);
        sum = sum_of_warp(sum);
        for (int pass = 0; pass < 2; pass++) {
            pick c = p;
            for (int j = 0; j < top_k; j++) {
                const float prob = expf(c.value - top) / sum;
                if (pass == 0)
                    of_chosen += prob;
                else if (lane == 0) {
                    ids[(base + t) * top_k + j] = c.expert;
                    gates[(base + t) * top_k + j] = prob / of_chosen;
                }
                c = next_of(row, experts, c);
            }
        }
        for (int e = lane; e < experts; e += 32) row[e] = expf(row[e] - top) / sum;
    }
}

cudaError_t moe_router(int *expert_ids, float *gate_scores, float *probs, const float *input,
                       const float *gate_weights, int num_tokens, int num_experts, int top_k,
                       int hidden_dim, cudaStream_t stream)
{
    if (num_experts <= 0 || top_k <= 0 || num_experts < top_k) return cudaErrorInvalidValue;
    if (num_tokens == 0) return cudaSuccess;
    eight_tokens<<<(num_tokens + 63) / 64, dim3(32, 8), 0, stream>>>(
        expert_ids, gate_scores, probs, input, gate_weights, num_tokens, num_experts, top_k,
        hidden_dim);
    return cudaGetLastError();
}

__global__ static void one_thread(int *list, int *offsets, moe_metrics *metrics, int *room,
                                  const int *ids, const float *probs, int tokens, int experts,
                                  int top_k, int capacity)
{
    const int n = tokens * top_k;
    double loss = 0;
    for (int e = 0; e < experts; e++) room[e] = 0;
    for (int i = 0; i < n; i++) room[ids[i]]++, list[i] = -1;
    offsets[0] = 0;
    for (int e = 0; e < experts; e++) {
        double mean = 0, share = n ? (double)room[e] / n : 0;
        for (int t = 0; t < tokens; t++) mean += probs[(long)t * experts + e];
        if (n) loss += share * (mean / tokens);
        metrics->expert_utilization[e] = (float)share;
        const int kept = capacity && room[e] > capacity ? capacity : room[e];
        room[e] = offsets[e];
        offsets[e + 1] = offsets[e] + kept;
    }
    for (int i = 0; i < n; i++) {
        const int e = ids[i];
        if (room[e] < offsets[e + 1]) list[room[e]++] = i;
    }
    metrics->load_balance_loss = (float)(loss * experts);
    metrics->dropped_tokens = n - offsets[experts];
}

cudaError_t moe_permute(int *permutation, int *offsets, moe_metrics *metrics, moe_segment *scratch,
                        const int *expert_ids, const float *probs, int num_tokens, int num_experts,
                        int top_k, int capacity, cudaStream_t stream)
{
    if (num_experts <= 0 || top_k <= 0 || num_experts < top_k || capacity < 0)
        return cudaErrorInvalidValue;
    one_thread<<<1, 1, 0, stream>>>(permutation, offsets, metrics, (int *)scratch, expert_ids,
                                    probs, num_tokens, num_experts, top_k, capacity);
    return cudaGetLastError();
}
