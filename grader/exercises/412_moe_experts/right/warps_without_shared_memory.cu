// RIGHT: a warp per 16 x 32 outputs, whose fragments come straight from global memory, four bytes a
// lane
#include "412_moe_experts/moe_experts.h"
#include <cuda_bf16.h>

#define WARPS 4

struct job {
    const __nv_bfloat16 *rows, *const *weights;
    const int *list, *starts;
    const float *gates; /* of the second product */
    __nv_bfloat16 *hidden;
    float *output;
    int experts, k, inner, cols;
};

__device__ static unsigned two(const __nv_bfloat16 *row, int at, int inner)
{
    return row != NULL && at < inner ? *(const unsigned *)(row + at) : 0;
}

__device__ static const __nv_bfloat16 *row_of(const job &j, int row, int end)
{
    if (row >= end) return NULL;
    const int from = j.gates == NULL ? j.list[row] / j.k : row;
    return j.rows + (size_t)from * j.inner;
}

__device__ static void finish(const job &j, int row, int col, float z)
{
    if (j.gates == NULL) {
        const float t = tanhf(0.797884561f * z * (1.0f + 0.044715f * z * z));
        j.hidden[(size_t)row * j.cols + col] = __float2bfloat16(0.5f * z + 0.5f * z * t);
        return;
    }
    const int entry = j.list[row];
    atomicAdd(j.output + (size_t)(entry / j.k) * j.cols + col, z * j.gates[entry]);
}

__device__ static void work(const job &j, int e, int top, int left)
{
    const int lane = threadIdx.x % 32, end = j.starts[e + 1], r = top + lane / 4, q = lane % 4 * 2;
    const __nv_bfloat16 *a0 = row_of(j, r, end), *a1 = row_of(j, r + 8, end);
    float sum[4][4] = {};
    for (int i = 0; i < j.inner; i += 16) {
        const unsigned a[4] = {two(a0, i + q, j.inner), two(a1, i + q, j.inner),
                               two(a0, i + q + 8, j.inner), two(a1, i + q + 8, j.inner)};
        for (int s = 0; s < 4; s++) {
            const int n = left + s * 8 + lane / 4;
            const __nv_bfloat16 *w = n < j.cols ? j.weights[e] + (size_t)n * j.inner : NULL;
            const unsigned b0 = two(w, i + q, j.inner), b1 = two(w, i + q + 8, j.inner);
            asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                : "+f"(sum[s][0]), "+f"(sum[s][1]), "+f"(sum[s][2]), "+f"(sum[s][3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
        }
    }
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < 4; i++) {
            const int row = r + i / 2 * 8, col = left + s * 8 + q + i % 2;
            if (row < end && col < j.cols) finish(j, row, col, sum[s][i]);
        }
}

__global__ static void all_experts(job j, float *clear, size_t count)
{
    const size_t warps = (size_t)gridDim.x * WARPS;
    const size_t me = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    for (size_t i = me * 32 + threadIdx.x % 32; i < count; i += warps * 32) clear[i] = 0;
    size_t before = 0;
    for (int e = 0; e < j.experts; e++) {
        const size_t across = (j.cols + 31) / 32, rows = j.starts[e + 1] - j.starts[e];
        const size_t tiles = (rows + 15) / 16 * across;
        size_t mine = (me + warps - before % warps) % warps;
        for (; mine < tiles; mine += warps)
            work(j, e, j.starts[e] + (int)(mine / across) * 16, (int)(mine % across) * 32);
        before += tiles;
    }
}

cudaError_t moe_experts_compute(float *output, __nv_bfloat16 *hidden, const __nv_bfloat16 *input,
                                const __nv_bfloat16 *const *expert_weights, const int *permutation,
                                const int *offsets, const float *gate_scores, int num_tokens,
                                int num_experts, int top_k, int hidden_dim, int ffn_dim,
                                cudaStream_t stream)
{
    if (num_experts < 1 || top_k < 1 || hidden_dim % 8 || ffn_dim % 8) return cudaErrorInvalidValue;
    const size_t count = (size_t)num_tokens * hidden_dim;
    if (count == 0) return cudaSuccess;
    job j = {input,  expert_weights, permutation, offsets,    NULL,   hidden,
             output, num_experts,    top_k,       hidden_dim, ffn_dim};
    const long rows = (long)num_tokens * top_k / 16 + num_experts;
    const unsigned blocks = rows < 300 ? (unsigned)rows : 300;
    all_experts<<<blocks, WARPS * 32, 0, stream>>>(j, output, count);
    j.rows = hidden, j.weights += num_experts, j.gates = gate_scores;
    j.inner = ffn_dim, j.cols = hidden_dim;
    all_experts<<<blocks, WARPS * 32, 0, stream>>>(j, output, 0);
    return cudaGetLastError();
}
