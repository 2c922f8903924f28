/*
 * The frozen baseline of 412: two launches per expert, each for as many rows as there are entries,
 * for the host does not know how many the expert has. Tiles of 64 x 64 on tensor cores, one stage.
 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

#define TILE  64 /* TILE x TILE elements of a product a block */
#define DEPTH 32
#define PAD   8

/* x * w^T of one expert's rows. gates: of the second product. */
__global__ static void expert_kernel(float *output, __nv_bfloat16 *hidden,
                                     const __nv_bfloat16 *input,
                                     const __nv_bfloat16 *const *weights, const int *permutation,
                                     const int *offsets, const float *gates, int expert, int top_k,
                                     int inner, int cols)
{
    __shared__ __align__(32) __nv_bfloat16 x[TILE][DEPTH + PAD], w[TILE][DEPTH + PAD];
    __shared__ __align__(32) float sums[TILE][TILE + PAD];
    const int row = offsets[expert] + blockIdx.y * TILE, end = offsets[expert + 1];
    const int col = blockIdx.x * TILE, warp = threadIdx.x / 32;
    if (row >= end) return;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
    for (int s = 0; s < 4; s++) wmma::fill_fragment(sum[s], 0.0f);
    for (int k = 0; k < inner; k += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += 128) {
            const int r = i / DEPTH, q = i % DEPTH;
            const __nv_bfloat16 zero = 0.0f;
            const size_t from =
                row + r < end && gates == NULL ? permutation[row + r] / top_k : row + r;
            const bool inside = k + q < inner;
            const __nv_bfloat16 *rows = gates == NULL ? input : hidden;
            x[r][q] = row + r < end && inside ? rows[from * inner + k + q] : zero;
            w[r][q] = col + r < cols && inside ? weights[expert][(size_t)(col + r) * inner + k + q]
                                               : zero;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; i += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
            wmma::load_matrix_sync(a, &x[warp * 16][i], DEPTH + PAD);
            for (int s = 0; s < 4; s++) {
                wmma::load_matrix_sync(b, &w[s * 16][i], DEPTH + PAD);
                wmma::mma_sync(sum[s], a, b, sum[s]);
            }
        }
        __syncthreads();
    }
    for (int s = 0; s < 4; s++)
        wmma::store_matrix_sync(&sums[warp * 16][s * 16], sum[s], TILE + PAD, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += 128) {
        const int r = row + i / TILE, q = col + i % TILE;
        if (r >= end || q >= cols) continue;
        const float z = sums[i / TILE][i % TILE];
        if (gates == NULL) {
            const float u = 0.7978845608f * (z + 0.044715f * z * z * z);
            hidden[(size_t)r * cols + q] = 0.5f * z * (1.0f + tanhf(u));
        } else {
            const int entry = permutation[r];
            atomicAdd(&output[(size_t)(entry / top_k) * cols + q], gates[entry] * z);
        }
    }
}

extern "C" cudaError_t
baseline_moe_experts(float *output, __nv_bfloat16 *hidden, const __nv_bfloat16 *input,
                     const __nv_bfloat16 *const *expert_weights, const int *permutation,
                     const int *offsets, const float *gate_scores, int num_tokens, int num_experts,
                     int top_k, int hidden_dim, int ffn_dim, cudaStream_t stream)
{
    const unsigned rows = (unsigned)((num_tokens * top_k - 1) / TILE + 1);
    const dim3 up((ffn_dim - 1) / TILE + 1, rows), down((hidden_dim - 1) / TILE + 1, rows);
    cudaMemsetAsync(output, 0, (size_t)num_tokens * hidden_dim * sizeof(float), stream);
    for (int e = 0; e < num_experts; e++)
        expert_kernel<<<up, 128, 0, stream>>>(output, hidden, input, expert_weights, permutation,
                                              offsets, NULL, e, top_k, hidden_dim, ffn_dim);
    for (int e = 0; e < num_experts; e++)
        expert_kernel<<<down, 128, 0, stream>>>(output, hidden, input, expert_weights + num_experts,
                                                permutation, offsets, gate_scores, e, top_k,
                                                ffn_dim, hidden_dim);
    return cudaGetLastError();
}
