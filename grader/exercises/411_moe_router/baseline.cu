/*
 * The frozen baseline of 411: a warp per token for the logits, one dot product after the other;
 * then a thread per token for softmax and choices. Sizes as moe_router, but at least one token.
 */
#include <cuda_runtime.h>
#include <math.h>

__global__ static void logits_kernel(float *logits, const float *input, const float *weights,
                                     int tokens, int experts, int cols)
{
    const size_t token = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (token >= tokens) return;
    for (int e = 0; e < experts; e++) {
        float sum = 0.0f;
        for (int c = threadIdx.x % 32; c < cols; c += 32)
            sum += input[token * cols + c] * weights[(size_t)e * cols + c];
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (threadIdx.x % 32 == 0) logits[token * experts + e] = sum;
    }
}

__global__ static void choice_kernel(int *ids, float *gates, float *probs, int tokens, int experts,
                                     int top_k)
{
    const size_t token = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= tokens) return;
    ids += token * top_k, gates += token * top_k, probs += token * experts;
    float max = -INFINITY, sum = 0.0f, chosen = 0.0f;
    for (int e = 0; e < experts; e++) max = fmaxf(max, probs[e]);
    for (int e = 0; e < experts; e++) sum += expf(probs[e] - max);
    for (int e = 0; e < experts; e++) probs[e] = expf(probs[e] - max) / sum;
    for (int j = 0; j < top_k; j++) {
        int best = -1;
        for (int e = 0; e < experts; e++) {
            bool taken = false;
            for (int i = 0; i < j; i++) taken |= ids[i] == e;
            if (!taken && (best < 0 || probs[e] > probs[best])) best = e;
        }
        ids[j] = best;
        gates[j] = probs[best];
        chosen += probs[best];
    }
    for (int j = 0; j < top_k; j++) gates[j] /= chosen;
}

extern "C" cudaError_t baseline_moe_router(int *expert_ids, float *gate_scores, float *probs,
                                           const float *input, const float *gate_weights,
                                           int num_tokens, int num_experts, int top_k,
                                           int hidden_dim, cudaStream_t stream)
{
    logits_kernel<<<(num_tokens - 1) / 8 + 1, 256, 0, stream>>>(
        probs, input, gate_weights, num_tokens, num_experts, hidden_dim);
    choice_kernel<<<(num_tokens - 1) / 128 + 1, 128, 0, stream>>>(expert_ids, gate_scores, probs,
                                                                  num_tokens, num_experts, top_k);
    return cudaGetLastError();
}
