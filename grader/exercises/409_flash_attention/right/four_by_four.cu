// RIGHT: 64 queries and 64 keys a block of 256 threads, 4 x 4 scores a thread, plain loads | nvcc
// Columns of o in a loop over the parts of dim
#include "409_flash_attention/flash_attention.h"
#include <math.h>

#define TILE  64
#define SIDE  16 /* SIDE x SIDE threads */
#define EACH  4
#define MOST  128
#define LN2   0.6931471805599453f
#define PITCH (MOST + 4)

typedef struct shared_tiles {
    float q[TILE][PITCH], kv[TILE][PITCH], p[TILE][TILE + 4]; /* kv: k, and then v */
} shared_tiles;

/* Rows first .. of x to the tile, zeros to the right up to a multiple of SIDE * EACH. */
__device__ static void load(float (*tile)[PITCH], const float *x, int first, int seq, int dim)
{
    int wide = dim > TILE ? MOST : TILE;
    for (int i = threadIdx.x; i < TILE * wide; i += SIDE * SIDE) {
        int r = i / wide, c = i % wide;
        bool inside = first < seq - r && c < dim;
        tile[r][c] = inside ? x[(size_t)(first + r) * dim + c] : 0.0f;
    }
}

__device__ static float of_row(float x, bool max) /* over the SIDE threads of a row */
{
    for (int d = 1; d < SIDE; d *= 2) {
        float other = __shfl_xor_sync(0xffffffffu, x, d);
        x = max ? fmaxf(x, other) : x + other;
    }
    return x;
}

__device__ static void multiply_keys(float s[EACH][EACH], const shared_tiles *t, int x, int y,
                                     int dim)
{
    for (int d = 0; d < dim; d += 4) {
        float4 q[EACH], k[EACH];
        for (int i = 0; i < EACH; i++) q[i] = *(const float4 *)&t->q[y * EACH + i][d];
        for (int j = 0; j < EACH; j++) k[j] = *(const float4 *)&t->kv[x + SIDE * j][d];
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                s[i][j] = fmaf(q[i].x, k[j].x, s[i][j]);
                s[i][j] = fmaf(q[i].y, k[j].y, s[i][j]);
                s[i][j] = fmaf(q[i].z, k[j].z, s[i][j]);
                s[i][j] = fmaf(q[i].w, k[j].w, s[i][j]);
            }
    }
}

/* PARTS: of 64 columns; four neighbours of each are a thread's. */
template <int PARTS>
__device__ static void multiply_values(float o[EACH][PARTS][4], const shared_tiles *t, int x, int y)
{
    for (int u = 0; u < TILE; u += 4) {
        float4 p[EACH];
        for (int i = 0; i < EACH; i++) p[i] = *(const float4 *)&t->p[y * EACH + i][u];
#pragma unroll
        for (int w = 0; w < 4 * PARTS; w++) {
            float4 v = *(const float4 *)&t->kv[u + w % 4][w / 4 * TILE + x * 4];
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                float weight = w % 4 == 0   ? p[i].x
                               : w % 4 == 1 ? p[i].y
                               : w % 4 == 2 ? p[i].z
                                            : p[i].w;
                float *sum = o[i][w / 4];
                sum[0] = fmaf(weight, v.x, sum[0]);
                sum[1] = fmaf(weight, v.y, sum[1]);
                sum[2] = fmaf(weight, v.z, sum[2]);
                sum[3] = fmaf(weight, v.w, sum[3]);
            }
        }
    }
}

template <int PARTS>
__global__ static void __launch_bounds__(SIDE *SIDE)
    kernel(float *out, float *lse, const float *q, const float *k, const float *v, int seq, int dim,
           bool causal, float scale, int tiles)
{
    extern __shared__ float4 memory[];
    shared_tiles *t = (shared_tiles *)memory;
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE, top = (int)(blockIdx.x % tiles) * TILE;
    size_t first_row = (size_t)(blockIdx.x / tiles) * seq, at = first_row * dim;
    int end = causal && seq - top > TILE ? top + TILE : seq;
    float m[EACH], l[EACH] = {0}, o[EACH][PARTS][4] = {{{0}}};
    for (int i = 0; i < EACH; i++) m[i] = -INFINITY;
    load(t->q, q + at, top, seq, dim);
    for (int first = 0; first < end; first += TILE) {
        float s[EACH][EACH] = {{0}};
        load(t->kv, k + at, first, seq, dim);
        __syncthreads();
        multiply_keys(s, t, x, y, dim);
        for (int i = 0; i < EACH; i++) {
            float now = m[i];
            for (int j = 0; j < EACH; j++) {
                int key = first + x + SIDE * j, query = top + y * EACH + i;
                s[i][j] = key >= seq || (causal && key > query) ? -INFINITY : s[i][j] * scale;
                now = fmaxf(now, s[i][j]);
            }
            now = of_row(now, true);
            float shrink = m[i] == now ? 1.0f : exp2f(m[i] - now);
            m[i] = now;
            l[i] *= shrink;
            for (int c = 0; c < PARTS * 4; c++) o[i][c / 4][c % 4] *= shrink;
            for (int j = 0; j < EACH; j++) {
                float p = s[i][j] == -INFINITY ? 0.0f : exp2f(s[i][j] - now);
                l[i] += p;
                t->p[y * EACH + i][x + SIDE * j] = p;
            }
        }
        __syncthreads();
        load(t->kv, v + at, first, seq, dim);
        __syncthreads();
        multiply_values<PARTS>(o, t, x, y);
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) {
        float sum = of_row(l[i], false);
        int query = top + y * EACH + i;
        if (query >= seq) continue;
        if (lse && x == 0) lse[first_row + query] = (m[i] + log2f(sum)) * LN2;
        for (int c = 0; c < PARTS * 4; c++) {
            int col = c / 4 * TILE + x * 4 + c % 4;
            if (col < dim)
                out[at + (size_t)query * dim + col] = sum == 0.0f ? 0.0f : o[i][c / 4][c % 4] / sum;
        }
    }
}

cudaError_t attention_flash(float *out, float *lse, const float *q, const float *k, const float *v,
                            int batch, int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    if (dim > MOST) return cudaErrorInvalidValue;
    if (!batch || !heads || !seq) return cudaSuccess;
    int tiles = (seq + TILE - 1) / TILE;
    auto *one = dim > 64 ? kernel<2> : kernel<1>;
    cudaFuncSetAttribute(one, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(shared_tiles));
    one<<<(unsigned)tiles * batch * heads, SIDE * SIDE, sizeof(shared_tiles), stream>>>(
        out, lse, q, k, v, seq, dim, causal, scale / LN2, tiles);
    return cudaGetLastError();
}
