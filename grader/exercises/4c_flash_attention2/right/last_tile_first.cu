// RIGHT: the tiles of the course in another loop: 64 queries a block, from the last keys
// to the first, one stage of 32; the maximum of each tile; e^x
#include "4c_flash_attention2/flash_attention2.h"
#include "4c_tile.cuh"
#include <math.h>

#define STEP 32

template <int DIM> struct room {
    bf16 q[64][DIM], k[STEP][DIM], v[STEP][DIM];
};

__device__ static float over_row(float x, bool largest)
{
    for (int i = 1; i < 4; i *= 2) {
        float other = __shfl_xor_sync(0xffffffffu, x, i);
        x = largest ? fmaxf(x, other) : x + other;
    }
    return x;
}

template <int DIM>
__global__ static void kernel(bf16 *out, float *lse, const bf16 *q, const bf16 *k, const bf16 *v,
                              int seq, int causal, float scale, bool aligned)
{
    extern __shared__ __align__(256) char bytes[];
    room<DIM> &r = *(room<DIM> *)bytes;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = (seq + 63) / 64;
    const int top = blockIdx.x % blocks * 64, row = top + warp * 16 + lane / 4;
    const size_t head = blockIdx.x / blocks;
    const int last = causal && top + 64 < seq ? top + 63 : seq - 1;
    float sum[1][DIM / 8][4] = {}, factor[2], high[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};

    q += head * seq * DIM, k += head * seq * DIM, v += head * seq * DIM, out += head * seq * DIM;
    copy_tile(r.q, q, top, seq, aligned);
    for (int key = last / STEP * STEP; key >= 0; key -= STEP) {
        float s[1][STEP / 8][4] = {};
        copy_tile(r.k, k, key, seq, aligned);
        copy_tile(r.v, v, key, seq, aligned);
        copies_done();
        __syncthreads();
        multiply_rows(s, r.q + warp * 16, r.k);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float most = high[h];
            for (int i = 0; i < STEP / 4; i++) {
                const int column = key + i / 2 * 8 + lane % 4 * 2 + i % 2;
                const bool seen = column < seq && (!causal || column <= row + h * 8);
                float &x = s[0][i / 2][h * 2 + i % 2];
                x = seen ? x * scale : -INFINITY;
                most = fmaxf(most, x);
            }
            most = over_row(most, true);
            const float from = most == -INFINITY ? 0 : most;
            const float old = __expf(high[h] - from);
            total[h] *= old, high[h] = most;
            for (int j = 0; j < DIM / 8; j++) sum[0][j][h * 2] *= old, sum[0][j][h * 2 + 1] *= old;
            for (int i = 0; i < STEP / 4; i++) {
                float &x = s[0][i / 2][h * 2 + i % 2];
                x = expf(x - from);
                total[h] += x;
            }
        }
        multiply_weights(sum, s, r.v);
        __syncthreads();
    }
    for (int h = 0; h < 2; h++) {
        total[h] = over_row(total[h], false);
        factor[h] = total[h] == 0 ? 0 : 1 / total[h];
        if (lse && lane % 4 == 0 && row + h * 8 < seq)
            lse[head * seq + row + h * 8] = high[h] + logf(total[h]);
    }
    store_rows(out, sum, factor, top + warp * 16, seq, aligned);
}

template <int DIM>
static void launch(bf16 *out, float *lse, const bf16 *q, const bf16 *k, const bf16 *v,
                   unsigned heads, int seq, int causal, float scale, cudaStream_t stream)
{
    const bool aligned = ((size_t)out | (size_t)q | (size_t)k | (size_t)v) % 16 == 0;
    kernel<DIM><<<heads *((seq + 63) / 64), 128, sizeof(room<DIM>), stream>>>(
        out, lse, q, k, v, seq, causal, scale, aligned);
}

cudaError_t attention_flash2(bf16 *out, float *lse, const bf16 *q, const bf16 *k, const bf16 *v,
                             int batch, int heads, int seq, int dim, int causal, float scale,
                             cudaStream_t stream)
{
    if (dim != 64 && dim != 128) return cudaErrorInvalidValue;
    if (batch && heads && seq && dim == 64)
        launch<64>(out, lse, q, k, v, batch * heads, seq, causal, scale, stream);
    if (batch && heads && seq && dim == 128)
        launch<128>(out, lse, q, k, v, batch * heads, seq, causal, scale, stream);
    return cudaGetLastError();
}
