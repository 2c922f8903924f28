// RIGHT: tiles of 32 queries and 32 keys, no scores in memory: an online softmax; backward, blocks
// of keys and blocks of queries
#include "212_matmul_transposed/matmul_transposed.h"
#include "313_attention/attention.h"
#include <math.h>

#define SIDE 32
#define ALL  0xffffffffu

typedef float patch[SIDE][SIDE + 1];

struct problem {
    int seq, dim, causal;
    float scale;
};

struct pointers {
    const float *q, *k, *v, *grad_out, *lse, *delta;
};

__device__ static float over_warp(float x, bool max)
{
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_xor_sync(ALL, x, d);
        x = max ? fmaxf(x, other) : x + other;
    }
    return x;
}

/* One element a thread: row top + y, column left + x, of a head. */
__device__ static void fetch(patch to, const float *from, int top, int left, problem p)
{
    int r = top + threadIdx.y, c = left + threadIdx.x;
    to[threadIdx.y][threadIdx.x] = r < p.seq && c < p.dim ? from[(size_t)r * p.dim + c] : 0.0f;
}

/* Row top_a + y of a times row top_b + x of b. */
__device__ static float dot(patch as, patch bs, const float *a, int top_a, const float *b,
                            int top_b, problem p)
{
    float sum = 0.0f;
    for (int d = 0; d < p.dim; d += SIDE) {
        fetch(as, a, top_a, d, p);
        fetch(bs, b, top_b, d, p);
        __syncthreads();
        for (int i = 0; i < SIDE; i++) sum += as[threadIdx.y][i] * bs[threadIdx.x][i];
        __syncthreads();
    }
    return sum;
}

__device__ static bool seen(int query, int key, problem p)
{
    return query < p.seq && key < p.seq && (!p.causal || key <= query);
}

/* out, unless NULL, in columns from blockIdx.y * SIDE on; and lse, of every query. */
__global__ static void forward(float *out, float *lse, const float *q, const float *k,
                               const float *v, problem p, int tiles)
{
    __shared__ patch a, b;
    int x = threadIdx.x, y = threadIdx.y, top = (int)(blockIdx.x % tiles) * SIDE;
    size_t head = blockIdx.x / tiles, start = head * p.seq * p.dim;
    int left = blockIdx.y * SIDE;
    float m = -INFINITY, l = 0.0f, o = 0.0f;
    for (int first = 0; first < p.seq && (!p.causal || first < top + SIDE); first += SIDE) {
        float s = p.scale * dot(a, b, q + start, top, k + start, first, p);
        if (!seen(top + y, first + x, p)) s = -INFINITY;
        float now = fmaxf(m, over_warp(s, true));
        float w = s == -INFINITY ? 0.0f : expf(s - now);
        float shrink = m == -INFINITY ? 0.0f : expf(m - now);
        m = now;
        l = l * shrink + over_warp(w, false);
        a[y][x] = w;
        if (out) fetch(b, v + start, first, left, p);
        __syncthreads();
        o *= shrink;
        for (int i = 0; i < SIDE; i++) o += a[y][i] * b[i][x];
        __syncthreads();
    }
    if (top + y >= p.seq) return;
    if (lse && x == 0 && left == 0) lse[head * p.seq + top + y] = m + logf(l);
    if (out && left + x < p.dim)
        out[start + (size_t)(top + y) * p.dim + left + x] = l == 0.0f ? 0.0f : o / l;
}

/* delta of a query: its sum of p grad_p, over all keys. */
__global__ static void sums(float *delta, pointers from, problem p, int tiles)
{
    __shared__ patch a, b;
    int x = threadIdx.x, y = threadIdx.y, top = (int)(blockIdx.x % tiles) * SIDE;
    size_t head = blockIdx.x / tiles, start = head * p.seq * p.dim, row = head * p.seq + top + y;
    float sum = 0.0f, lse = top + y < p.seq ? from.lse[row] : 0.0f;
    for (int first = 0; first < p.seq && (!p.causal || first < top + SIDE); first += SIDE) {
        float s = p.scale * dot(a, b, from.q + start, top, from.k + start, first, p);
        float g = dot(a, b, from.grad_out + start, top, from.v + start, first, p);
        if (seen(top + y, first + x, p)) sum += expf(s - lse) * g;
    }
    sum = over_warp(sum, false);
    if (top + y < p.seq && x == 0) delta[row] = sum;
}

/* OF_KEYS: a tile of keys, and all queries go past: grad_k and grad_v. Else queries: grad_q. */
template <bool OF_KEYS>
__global__ static void backward(float *grad, float *grad_v, pointers from, problem p, int tiles)
{
    __shared__ patch a, b, ws, gs;
    int x = threadIdx.x, y = threadIdx.y, mine = (int)(blockIdx.x % tiles) * SIDE;
    size_t head = blockIdx.x / tiles, start = head * p.seq * p.dim;
    int left = blockIdx.y * SIDE;
    float sum = 0.0f, sum_v = 0.0f;
    for (int other = 0; other < p.seq; other += SIDE) {
        int queries = OF_KEYS ? other : mine, keys = OF_KEYS ? mine : other;
        if (p.causal && keys > queries + SIDE - 1) continue;
        float s = p.scale * dot(a, b, from.q + start, queries, from.k + start, keys, p);
        float g = dot(a, b, from.grad_out + start, queries, from.v + start, keys, p);
        bool inside = seen(queries + y, keys + x, p);
        size_t row = head * p.seq + queries + y;
        float w = inside ? expf(s - from.lse[row]) : 0.0f;
        ws[y][x] = w;
        gs[y][x] = inside ? p.scale * w * (g - from.delta[row]) : 0.0f;
        fetch(a, (OF_KEYS ? from.q : from.k) + start, other, left, p);
        if (OF_KEYS) fetch(b, from.grad_out + start, other, left, p);
        __syncthreads();
        for (int i = 0; i < SIDE; i++) {
            sum += (OF_KEYS ? gs[i][y] : gs[y][i]) * a[i][x];
            if (OF_KEYS) sum_v += ws[i][y] * b[i][x];
        }
        __syncthreads();
    }
    if (mine + y >= p.seq || left + x >= p.dim) return;
    size_t at = start + (size_t)(mine + y) * p.dim + left + x;
    grad[at] = sum;
    if (OF_KEYS) grad_v[at] = sum_v;
}

cudaError_t attention_naive(float *out, const float *q, const float *k, const float *v, int batch,
                            int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    if (!batch || !heads || !seq || !dim) return cudaSuccess;
    problem p = {seq, dim, causal, scale};
    int tiles = (seq + SIDE - 1) / SIDE;
    dim3 grid(tiles * batch * heads, (dim + SIDE - 1) / SIDE), block(SIDE, SIDE);
    forward<<<grid, block, 0, stream>>>(out, NULL, q, k, v, p, tiles);
    return cudaGetLastError();
}

cudaError_t attention_naive_backward(float *grad_q, float *grad_k, float *grad_v,
                                     const float *grad_out, const float *q, const float *k,
                                     const float *v, int batch, int heads, int seq, int dim,
                                     int causal, float scale, cudaStream_t stream)
{
    if (!batch || !heads || !seq || !dim) return cudaSuccess;
    problem p = {seq, dim, causal, scale};
    int tiles = (seq + SIDE - 1) / SIDE, rows = batch * heads * seq;
    dim3 line(tiles * batch * heads), block(SIDE, SIDE), grid(line.x, (dim + SIDE - 1) / SIDE);
    float *of_rows;
    cudaError_t error = cudaMallocAsync((void **)&of_rows, 2 * rows * sizeof *of_rows, stream);
    if (error != cudaSuccess) return error;
    pointers from = {q, k, v, grad_out, of_rows, of_rows + rows};
    forward<<<line, block, 0, stream>>>(NULL, of_rows, q, k, v, p, tiles);
    sums<<<line, block, 0, stream>>>(of_rows + rows, from, p, tiles);
    backward<true><<<grid, block, 0, stream>>>(grad_k, grad_v, from, p, tiles);
    backward<false><<<grid, block, 0, stream>>>(grad_q, NULL, from, p, tiles);
    cudaFreeAsync(of_rows, stream);
    return cudaGetLastError();
}
