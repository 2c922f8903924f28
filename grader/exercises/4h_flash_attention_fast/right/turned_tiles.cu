// RIGHT: q, k and p turned in shared memory, 8 x 4 scores a thread of 64 queries and 64 keys, heads
// along y of the grid, C++
#include "4h_flash_attention_fast/flash_attention_fast.h"
#include <math.h>

namespace
{

constexpr int QUERIES = 64, KEYS = 64, THREADS = 128, DOWN = 8, ACROSS = 4;
constexpr int PITCH = QUERIES + 4;

/* Of [column][row]: eight groups of 8 queries down, 16 of 4 keys across. */
template <int D> struct block_memory {
    float q[D][PITCH];
    float k[D][PITCH];
    float p[KEYS][PITCH]; // [key][query]
    float v[KEYS][D];
};

struct task {
    float *out, *lse;
    const float *q, *k, *v;
    size_t heads;
    int seq, dim;
    bool causal;
    float scale;
};

template <int D>
__device__ void turn(float (*to)[PITCH], const float *x, int first, task a, float factor)
{
    for (int i = threadIdx.x; i < D * QUERIES; i += THREADS) {
        int r = i / D, c = i % D;
        bool inside = r < a.seq - first && c < a.dim;
        to[c][r] = inside ? x[(size_t)(first + r) * a.dim + c] * factor : 0.0f;
    }
}

template <int D> __device__ void copy_values(float (*to)[D], const float *x, int first, task a)
{
    for (int i = threadIdx.x; i < D * KEYS; i += THREADS) {
        int r = i / D, c = i % D;
        bool inside = r < a.seq - first && c < a.dim;
        to[r][c] = inside ? x[(size_t)(first + r) * a.dim + c] : 0.0f;
    }
}

/* sum[i][j] += a[i] b[j], with a and b from one row of each array in shared memory */
template <int COLUMNS>
__device__ __forceinline__ void outer(float (&sum)[DOWN][COLUMNS], const float *a, const float *b,
                                      int stride)
{
    float left[DOWN], right[COLUMNS];
    for (int i = 0; i < DOWN; i += 4) *(float4 *)&left[i] = *(const float4 *)&a[i];
    for (int j = 0; j + 4 <= COLUMNS; j += 4)
        *(float4 *)&right[j] = *(const float4 *)&b[j / 4 * stride];
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) sum[i][j] += left[i] * right[j];
}

template <int D> __global__ void __launch_bounds__(THREADS) attend(task a)
{
    extern __shared__ float4 raw[];
    auto &m = *reinterpret_cast<block_memory<D> *>(raw);
    const int x = threadIdx.x % 16, y = threadIdx.x / 16, down = y * DOWN, right = x * ACROSS;
    const int top = (gridDim.x - 1 - blockIdx.x) * QUERIES;
    const int end = a.causal && a.seq - top > QUERIES ? top + QUERIES : a.seq;
    for (size_t head = blockIdx.y; head < a.heads; head += gridDim.y) {
        const size_t at = head * a.seq * a.dim;
        float largest[DOWN], o[DOWN][D / 16] = {}, l[DOWN] = {};
        for (float &one : largest) one = -INFINITY;
        turn<D>(m.q, a.q + at, top, a, a.scale * 1.44269504f);
        for (int first = 0; first < end; first += KEYS) {
            float s[DOWN][ACROSS] = {};
            turn<D>(m.k, a.k + at, first, a, 1.0f);
            copy_values<D>(m.v, a.v + at, first, a);
            __syncthreads();
#pragma unroll 4
            for (int d = 0; d < a.dim; d++) outer<ACROSS>(s, &m.q[d][down], &m.k[d][right], 0);
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
                float best = largest[i];
#pragma unroll
                for (int j = 0; j < ACROSS; j++) {
                    const int key = first + right + j;
                    if (key >= a.seq || (a.causal && key > top + down + i)) s[i][j] = -INFINITY;
                    best = fmaxf(best, s[i][j]);
                }
                for (int far = 8; far; far /= 2)
                    best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, far));
                const float from = best > -INFINITY ? best : 0.0f;
                const float factor = exp2f(largest[i] - from);
                largest[i] = best;
                l[i] *= factor;
                for (float &one : o[i]) one *= factor;
#pragma unroll
                for (int j = 0; j < ACROSS; j++) {
                    const float p = exp2f(s[i][j] - from);
                    m.p[right + j][down + i] = p;
                    l[i] += p;
                }
            }
            __syncthreads();
#pragma unroll 4
            for (int u = 0; u < KEYS; u++) outer<D / 16>(o, &m.p[u][down], &m.v[u][x * 4], 64);
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < DOWN; i++) {
            for (int far = 8; far; far /= 2) l[i] += __shfl_xor_sync(0xffffffffu, l[i], far);
            const int query = top + down + i;
            if (query >= a.seq) continue;
            if (x == 0 && a.lse)
                a.lse[head * a.seq + query] = largest[i] / 1.44269504f + logf(l[i]);
            for (int c = 0; c < D / 16; c++) {
                const int col = c / 4 * 64 + x * 4 + c % 4;
                if (col < a.dim)
                    a.out[at + (size_t)query * a.dim + col] = l[i] != 0.0f ? o[i][c] / l[i] : 0.0f;
            }
        }
    }
}

template <int D> void start(const task &a, cudaStream_t stream)
{
    const size_t bytes = sizeof(block_memory<D>);
    const dim3 grid((a.seq - 1) / QUERIES + 1, a.heads < 4096 ? a.heads : 4096);
    cudaFuncSetAttribute(attend<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    attend<D><<<grid, THREADS, bytes, stream>>>(a);
}

} // namespace

cudaError_t attention_flash_fast(float *out, float *lse, const float *q, const float *k,
                                 const float *v, int batch, int heads, int seq, int dim, int causal,
                                 float scale, cudaStream_t stream)
{
    const task a = {out, lse, q, k, v, (size_t)batch * heads, seq, dim, causal != 0, scale};
    if (dim > 128) return cudaErrorInvalidValue;
    if (a.heads == 0 || seq == 0) return cudaSuccess;
    dim <= 64 ? start<64>(a, stream) : start<128>(a, stream);
    return cudaGetLastError();
}
