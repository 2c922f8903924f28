// RIGHT: four queries a warp, k and v in tiles of their own, weights by shared memory, heads along
// y, powers of 2, C++
#include "409_flash_attention/flash_attention.h"
#include <math.h>

namespace
{

constexpr int ROWS = 32, KEYS = 32, WARPS = 8, OWN = ROWS / WARPS, COLUMNS = 128 / 32;

struct job {
    float *out, *lse;
    const float *q, *k, *v;
    size_t heads;
    int seq, dim;
    bool causal;
    float scale;
};

/* 32 rows lie one after the other in memory: a copy walks along them as one array. */
__device__ void fetch(float *to, const float *x, int first, const job &a, float factor)
{
    for (int i = threadIdx.y * 32 + threadIdx.x; i < ROWS * a.dim; i += 32 * WARPS) {
        const int r = i / a.dim, c = i % a.dim;
        const bool inside = r < a.seq - first;
        to[r * (a.dim | 1) + c] = inside ? x[(size_t)first * a.dim + i] * factor : 0.0f;
    }
}

__global__ void __launch_bounds__(32 * WARPS) attend(job a)
{
    extern __shared__ float room[];
    const int pitch = a.dim | 1, lane = threadIdx.x, own = threadIdx.y * OWN;
    float *q = room, *k = q + ROWS * pitch, *v = k + KEYS * pitch;
    float *p = v + KEYS * pitch + own * KEYS; // of this warp: [OWN][KEYS]
    const int first = blockIdx.x * ROWS;
    const int end = a.causal && a.seq - first > ROWS ? first + ROWS : a.seq;
    for (size_t head = blockIdx.y; head < a.heads; head += gridDim.y) {
        const size_t at = head * a.seq * a.dim;
        float best[OWN], l[OWN] = {}, o[OWN][COLUMNS] = {};
        for (float &one : best) one = -INFINITY;
        fetch(q, a.q + at, first, a, a.scale * 1.44269504f);
        for (int start = 0; start < end; start += KEYS) {
            fetch(k, a.k + at, start, a, 1.0f);
            fetch(v, a.v + at, start, a, 1.0f);
            __syncthreads();
#pragma unroll
            for (int i = 0; i < OWN; i++) {
                const int query = first + own + i, key = start + lane;
                float s = 0.0f;
                for (int c = 0; c < a.dim; c++) s += q[(own + i) * pitch + c] * k[lane * pitch + c];
                if (key >= a.seq || (a.causal && key > query)) s = -INFINITY;
                float top = fmaxf(best[i], s);
                for (int far = 1; far < 32; far *= 2)
                    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, far));
                const float from = top > -INFINITY ? top : 0.0f;
                const float factor = exp2f(best[i] - from), weight = exp2f(s - from);
                float total = weight;
                for (int far = 1; far < 32; far *= 2)
                    total += __shfl_xor_sync(0xffffffffu, total, far);
                best[i] = top;
                l[i] = l[i] * factor + total;
                for (float &one : o[i]) one *= factor;
                p[i * KEYS + lane] = weight;
            }
            __syncwarp();
            for (int u = 0; u < KEYS; u++) {
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) {
                    if (lane + 32 * c >= a.dim) continue;
                    const float value = v[u * pitch + lane + 32 * c];
#pragma unroll
                    for (int i = 0; i < OWN; i++) o[i][c] += p[i * KEYS + u] * value;
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const size_t row = head * a.seq + first + own + i;
            if (first + own + i >= a.seq) break;
            if (lane == 0 && a.lse) a.lse[row] = best[i] / 1.44269504f + logf(l[i]);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                if (lane + 32 * c < a.dim)
                    a.out[row * a.dim + lane + 32 * c] = l[i] != 0.0f ? o[i][c] / l[i] : 0.0f;
        }
    }
}

} // namespace

cudaError_t attention_flash(float *out, float *lse, const float *q, const float *k, const float *v,
                            int batch, int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    const job a = {out, lse, q, k, v, (size_t)batch * heads, seq, dim, causal != 0, scale};
    if (dim > 128) return cudaErrorInvalidValue;
    if (a.heads == 0 || seq == 0) return cudaSuccess;
    const size_t bytes = (3 * ROWS * (dim | 1) + ROWS * KEYS) * sizeof(float);
    cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    const dim3 grid((seq - 1) / ROWS + 1, a.heads < 4096 ? a.heads : 4096);
    attend<<<grid, dim3(32, WARPS), bytes, stream>>>(a);
    return cudaGetLastError();
}
