// RIGHT: wmma by tiles of 64 x 64, one stage; a grid of rows in y that strides over all experts'
// row tiles
#include "412_moe_experts/moe_experts.h"
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda::wmma;

#define EDGE  64
#define DEPTH 32
#define GAP   8

typedef __nv_bfloat16 bf16;

template <bool UP>
__global__ static void
grouped(float *output, bf16 *hidden, const bf16 *input, const bf16 *const *weights, const int *list,
        const int *offsets, const float *gates, int tokens, int experts, int k, int inner, int cols)
{
    __shared__ __align__(32) bf16 left[EDGE][DEPTH + GAP], right[EDGE][DEPTH + GAP];
    __shared__ __align__(32) float out[EDGE][EDGE + GAP];
    const int col = blockIdx.x * EDGE, warp = threadIdx.x / 32;
    if (UP) {
        const size_t n = (size_t)tokens * inner, all = (size_t)gridDim.x * gridDim.y * 128;
        const size_t block = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
        for (size_t i = block * 128 + threadIdx.x; i < n; i += all) output[i] = 0;
    }
    int number = 0; /* of the expert's first row tile */
    for (int e = 0; e < experts; e++) {
        const int begin = offsets[e], end = offsets[e + 1], tiles = (end - begin + EDGE - 1) / EDGE;
        for (int t = 0; t < tiles; t++, number++) {
            if (number % gridDim.y != blockIdx.y || col >= cols) continue;
            const int top = begin + t * EDGE;
            fragment<accumulator, 16, 16, 16, float> sum[4];
            for (int s = 0; s < 4; s++) fill_fragment(sum[s], 0.0f);
            for (int start = 0; start < inner; start += DEPTH) {
                for (int i = threadIdx.x; i < EDGE * DEPTH; i += 128) {
                    const int r = i / DEPTH, q = start + i % DEPTH, row = top + r;
                    bf16 x = 0.0f, w = 0.0f;
                    if (row < end && q < inner)
                        x = UP ? input[(size_t)(list[row] / k) * inner + q]
                               : hidden[(size_t)row * inner + q];
                    if (col + r < cols && q < inner) w = weights[e][(size_t)(col + r) * inner + q];
                    left[r][i % DEPTH] = x;
                    right[r][i % DEPTH] = w;
                }
                __syncthreads();
                for (int i = 0; i < DEPTH; i += 16) {
                    fragment<matrix_a, 16, 16, 16, bf16, row_major> a;
                    load_matrix_sync(a, &left[warp * 16][i], DEPTH + GAP);
                    for (int s = 0; s < 4; s++) {
                        fragment<matrix_b, 16, 16, 16, bf16, col_major> b;
                        load_matrix_sync(b, &right[s * 16][i], DEPTH + GAP);
                        mma_sync(sum[s], a, b, sum[s]);
                    }
                }
                __syncthreads();
            }
            for (int s = 0; s < 4; s++)
                store_matrix_sync(&out[warp * 16][s * 16], sum[s], EDGE + GAP, mem_row_major);
            __syncthreads();
            for (int i = threadIdx.x; i < EDGE * EDGE; i += 128) {
                const int row = top + i / EDGE, q = col + i % EDGE;
                if (row >= end || q >= cols) continue;
                const float z = out[i / EDGE][i % EDGE];
                if (UP)
                    hidden[(size_t)row * cols + q] =
                        0.5f * z * (1 + tanhf(0.79788456f * (z + 0.044715f * z * z * z)));
                else
                    atomicAdd(output + (size_t)(list[row] / k) * cols + q, gates[list[row]] * z);
            }
            __syncthreads();
        }
    }
}

static dim3 grid_of(int cols, long entries)
{
    const long rows = (entries + EDGE - 1) / EDGE;
    return dim3(cols > 0 ? (cols + EDGE - 1) / EDGE : 1, rows < 500 ? (unsigned)rows : 500);
}

cudaError_t moe_experts_compute(float *output, __nv_bfloat16 *hidden, const __nv_bfloat16 *input,
                                const __nv_bfloat16 *const *expert_weights, const int *permutation,
                                const int *offsets, const float *gate_scores, int num_tokens,
                                int num_experts, int top_k, int hidden_dim, int ffn_dim,
                                cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || (hidden_dim | ffn_dim) & 7) return cudaErrorInvalidValue;
    if (num_tokens == 0 || hidden_dim == 0) return cudaSuccess;
    const long entries = (long)num_tokens * top_k;
    grouped<true><<<grid_of(ffn_dim, entries), 128, 0, stream>>>(
        output, hidden, input, expert_weights, permutation, offsets, gate_scores, num_tokens,
        num_experts, top_k, hidden_dim, ffn_dim);
    grouped<false><<<grid_of(hidden_dim, entries), 128, 0, stream>>>(
        output, hidden, input, expert_weights + num_experts, permutation, offsets, gate_scores,
        num_tokens, num_experts, top_k, ffn_dim, hidden_dim);
    return cudaGetLastError();
}
