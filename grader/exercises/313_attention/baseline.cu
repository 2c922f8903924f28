/*
 * Frozen: attention with a thread per query, which goes through all keys. Right; the lanes of a
 * warp read 32 different rows of q and out, and each key is read by every thread again.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>

#define BLOCK 64

typedef struct sizes {
    size_t rows;
    int seq, dim, causal;
    float scale;
} sizes;

__device__ static float dot(const float *x, const float *y, int dim)
{
    float sum = 0.0f;
    for (int i = 0; i < dim; i++) sum += x[i] * y[i];
    return sum;
}

/** The largest score of a query, and the sum of exp(score - it). */
__device__ static void statistics(float *max, float *sum, const float *q, const float *k, int keys,
                                  sizes s)
{
    *max = -INFINITY;
    *sum = 0.0f;
    for (int u = 0; u < keys; u++)
        *max = fmaxf(*max, s.scale * dot(q, k + (size_t)u * s.dim, s.dim));
    for (int u = 0; u < keys; u++)
        *sum += expf(s.scale * dot(q, k + (size_t)u * s.dim, s.dim) - *max);
}

__global__ static void forward_kernel(float *out, const float *q, const float *k, const float *v,
                                      sizes s)
{
    size_t row = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (row >= s.rows) return;
    size_t head = row / s.seq * s.seq * s.dim;
    int keys = s.causal ? (int)(row % s.seq) + 1 : s.seq;
    q += row * s.dim;
    out += row * s.dim;
    k += head;
    v += head;

    float max, sum;
    statistics(&max, &sum, q, k, keys, s);
    for (int i = 0; i < s.dim; i++) out[i] = 0.0f;
    for (int u = 0; u < keys; u++) {
        float p = expf(s.scale * dot(q, k + (size_t)u * s.dim, s.dim) - max) / sum;
        for (int i = 0; i < s.dim; i++) out[i] += p * v[(size_t)u * s.dim + i];
    }
}

/** grad_k and grad_v are 0 before: all queries add to them. */
__global__ static void backward_kernel(float *grad_q, float *grad_k, float *grad_v,
                                       const float *grad_out, const float *q, const float *k,
                                       const float *v, sizes s)
{
    size_t row = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (row >= s.rows) return;
    size_t head = row / s.seq * s.seq * s.dim;
    int keys = s.causal ? (int)(row % s.seq) + 1 : s.seq;
    q += row * s.dim;
    grad_q += row * s.dim;
    grad_out += row * s.dim;

    float max, sum, mean = 0.0f;
    statistics(&max, &sum, q, k + head, keys, s);
    for (int i = 0; i < s.dim; i++) grad_q[i] = 0.0f;
    for (int u = 0; u < keys; u++) {
        size_t at = head + (size_t)u * s.dim;
        float p = expf(s.scale * dot(q, k + at, s.dim) - max) / sum;
        mean += p * dot(grad_out, v + at, s.dim);
    }
    for (int u = 0; u < keys; u++) {
        size_t at = head + (size_t)u * s.dim;
        float p = expf(s.scale * dot(q, k + at, s.dim) - max) / sum;
        float grad_s = s.scale * p * (dot(grad_out, v + at, s.dim) - mean);
        for (int i = 0; i < s.dim; i++) {
            grad_q[i] += grad_s * k[at + i];
            atomicAdd(&grad_k[at + i], grad_s * q[i]);
            atomicAdd(&grad_v[at + i], p * grad_out[i]);
        }
    }
}

extern "C" cudaError_t baseline_attention(float *out, const float *q, const float *k,
                                          const float *v, int batch, int heads, int seq, int dim,
                                          int causal, float scale, cudaStream_t stream)
{
    sizes s = {(size_t)batch * heads * seq, seq, dim, causal, scale};
    forward_kernel<<<(s.rows - 1) / BLOCK + 1, BLOCK, 0, stream>>>(out, q, k, v, s);
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_attention_backward(float *grad_q, float *grad_k, float *grad_v,
                                                   const float *grad_out, const float *q,
                                                   const float *k, const float *v, int batch,
                                                   int heads, int seq, int dim, int causal,
                                                   float scale, cudaStream_t stream)
{
    sizes s = {(size_t)batch * heads * seq, seq, dim, causal, scale};
    cudaMemsetAsync(grad_k, 0, s.rows * dim * sizeof *grad_k, stream);
    cudaMemsetAsync(grad_v, 0, s.rows * dim * sizeof *grad_v, stream);
    backward_kernel<<<(s.rows - 1) / BLOCK + 1, BLOCK, 0, stream>>>(grad_q, grad_k, grad_v,
                                                                    grad_out, q, k, v, s);
    return cudaGetLastError();
}
