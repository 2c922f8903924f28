// RIGHT: tiles of 16, strides as numbers, a block per row of the softmax, the mask where the scores
// are made; scratch for some heads at a time
#include "212_matmul_transposed/matmul_transposed.h"
#include "313_attention/attention.h"
#include <math.h>

enum { T = 16, HEADS = 64, LINE = 128 };

struct view {
    const float *at;
    int down, right; // elements to the next row and to the next column
    size_t head;
};

struct sizes {
    int m, n, k;
};

__global__ void product(float *to, view a, view b, sizes s, float factor, bool mask)
{
    __shared__ float as[T][T + 1], bs[T][T + 1];
    const int x = threadIdx.x, y = threadIdx.y, wide = (s.n + T - 1) / T;
    const int row = blockIdx.x / wide * T + y, col = blockIdx.x % wide * T + x;
    const size_t z = blockIdx.y;
    float sum = 0;
    for (int i = 0; i < s.k; i += T) {
        // the index that lies side by side in memory goes with x
        const int ar = a.right == 1 ? y : x, ac = a.right == 1 ? x : y;
        const int br = b.right == 1 ? y : x, bc = b.right == 1 ? x : y;
        const int top = row - y + ar, left = col - x + bc;
        as[ar][ac] = top < s.m && i + ac < s.k
                         ? a.at[z * a.head + (size_t)top * a.down + (size_t)(i + ac) * a.right]
                         : 0;
        bs[br][bc] = i + br < s.k && left < s.n
                         ? b.at[z * b.head + (size_t)(i + br) * b.down + (size_t)left * b.right]
                         : 0;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < T; j++) sum = fmaf(as[y][j], bs[j][x], sum);
        __syncthreads();
    }
    if (row >= s.m || col >= s.n) return;
    to[z * s.m * s.n + (size_t)row * s.n + col] = mask && col > row ? -INFINITY : sum * factor;
}

__device__ float together(float mine, bool largest)
{
    __shared__ float all[LINE];
    all[threadIdx.x] = mine;
    for (int half = LINE / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x >= half) continue;
        const float other = all[threadIdx.x + half];
        all[threadIdx.x] = largest ? fmaxf(all[threadIdx.x], other) : all[threadIdx.x] + other;
    }
    __syncthreads();
    mine = all[0];
    __syncthreads();
    return mine;
}

__global__ void weights(float *s, int seq)
{
    s += (size_t)blockIdx.x * seq;
    float top = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < seq; i += LINE) top = fmaxf(top, s[i]);
    top = together(top, true);
    for (int i = threadIdx.x; i < seq; i += LINE) {
        s[i] = s[i] == -INFINITY ? 0 : expf(s[i] - top);
        sum += s[i];
    }
    sum = together(sum, false);
    for (int i = threadIdx.x; i < seq; i += LINE) s[i] = sum == 0 ? 0 : s[i] / sum;
}

__global__ void through_weights(float *g, const float *p, int seq)
{
    g += (size_t)blockIdx.x * seq;
    p += (size_t)blockIdx.x * seq;
    float sum = 0;
    for (int i = threadIdx.x; i < seq; i += LINE) sum += g[i] * p[i];
    sum = together(sum, false);
    for (int i = threadIdx.x; i < seq; i += LINE) g[i] = p[i] * (g[i] - sum);
}

static void multiply(float *to, view a, view b, sizes s, int heads, float factor, bool mask,
                     cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((s.m + T - 1) / T) * ((s.n + T - 1) / T);
    product<<<dim3(blocks, heads), dim3(T, T), 0, stream>>>(to, a, b, s, factor, mask);
}

static view rows(const float *at, int height, int width)
{
    return {at, width, 1, (size_t)height * width};
}

static view columns(const float *at, int height, int width)
{
    return {at, 1, width, (size_t)height * width};
}

cudaError_t attention_naive(float *out, const float *q, const float *k, const float *v, int batch,
                            int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    const size_t all = (size_t)batch * heads, size = (size_t)seq * dim;
    float *s = NULL;
    if (!all || !size) return cudaSuccess;
    if (cudaMallocAsync((void **)&s, sizeof *s * HEADS * seq * seq, stream))
        return cudaGetLastError();
    for (size_t first = 0; first < all; first += HEADS) {
        const int some = all - first < HEADS ? (int)(all - first) : HEADS;
        const size_t at = first * size;
        multiply(s, rows(q + at, seq, dim), columns(k + at, seq, dim), {seq, seq, dim}, some, scale,
                 causal, stream);
        weights<<<some * seq, LINE, 0, stream>>>(s, seq);
        multiply(out + at, rows(s, seq, seq), rows(v + at, seq, dim), {seq, dim, seq}, some, 1,
                 false, stream);
    }
    cudaFreeAsync(s, stream);
    return cudaGetLastError();
}

cudaError_t attention_naive_backward(float *grad_q, float *grad_k, float *grad_v,
                                     const float *grad_out, const float *q, const float *k,
                                     const float *v, int batch, int heads, int seq, int dim,
                                     int causal, float scale, cudaStream_t stream)
{
    const size_t all = (size_t)batch * heads, size = (size_t)seq * dim;
    float *s = NULL;
    if (!all || !size) return cudaSuccess;
    const size_t scratch = sizeof *s * HEADS * seq * seq;
    if (cudaMallocAsync((void **)&s, 2 * scratch, stream)) return cudaGetLastError();
    float *g = s + (size_t)HEADS * seq * seq;
    const sizes square = {seq, seq, dim}, tall = {seq, dim, seq};
    for (size_t first = 0; first < all; first += HEADS) {
        const int some = all - first < HEADS ? (int)(all - first) : HEADS;
        const size_t at = first * size;
        const view qs = rows(q + at, seq, dim), ks = rows(k + at, seq, dim);
        const view gs = rows(grad_out + at, seq, dim);
        multiply(s, qs, columns(k + at, seq, dim), square, some, scale, causal, stream);
        weights<<<some * seq, LINE, 0, stream>>>(s, seq);
        multiply(grad_v + at, columns(s, seq, seq), gs, tall, some, 1, false, stream);
        multiply(g, gs, columns(v + at, seq, dim), square, some, 1, false, stream);
        through_weights<<<some * seq, LINE, 0, stream>>>(g, s, seq);
        multiply(grad_q + at, rows(g, seq, seq), ks, tall, some, scale, false, stream);
        multiply(grad_k + at, columns(g, seq, seq), qs, tall, some, scale, false, stream);
    }
    cudaFreeAsync(s, stream);
    return cudaGetLastError();
}
