// RIGHT: first the queries, whose blocks find D on the way, then the keys; 32 rows pass at a time
#include "../../phase4_optimization/4c_flash_attention2/4c_tile.cuh"
#include "4c_flash_attention2/flash_attention2.h"
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include <math.h>

#define OWN  64
#define NEXT 32
#define TO_2 1.44269504f

template <int DIM> struct memory {
    bf16 first[OWN][DIM], second[OWN][DIM], x[NEXT][DIM], y[NEXT][DIM];
};

/* Lanes 4 r to 4 r + 3 have rows r and r + 8 of the warp's 16. */
__device__ static int own_row(int half)
{
    return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + half * 8;
}

template <int DIM> __device__ static float dot_of_four_lanes(const bf16 *a, const bf16 *b)
{
    float sum = 0.0f;
    for (int i = threadIdx.x % 4; i < DIM; i += 4)
        sum += __bfloat162float(a[i]) * __bfloat162float(b[i]);
    sum += __shfl_xor_sync(~0u, sum, 1);
    return sum + __shfl_xor_sync(~0u, sum, 2);
}

template <int DIM>
__global__ static void of_queries(bf16 *grad_q, float *d, const bf16 *grad_out, const bf16 *out,
                                  const float *lse, const bf16 *q, const bf16 *k, const bf16 *v,
                                  int seq, int causal, float scale, bool wide)
{
    extern __shared__ __align__(256) char room[];
    memory<DIM> *m = (memory<DIM> *)room;
    const int blocks = (seq - 1) / OWN + 1, query = blockIdx.x % blocks * OWN;
    const size_t head = (size_t)(blockIdx.x / blocks) * seq;
    float my_lse[2], my_d[2], sum[1][DIM / 8][4] = {}, both[2] = {scale, scale};

    for (int h = 0; h < 2; h++) {
        const size_t row = head + min(query + own_row(h), seq - 1);
        my_d[h] = dot_of_four_lanes<DIM>(grad_out + row * DIM, out + row * DIM);
        my_lse[h] = lse[row];
        if (threadIdx.x % 4 == 0 && query + own_row(h) < seq) d[row] = my_d[h];
    }
    copy_tile(m->first, q + head * DIM, query, seq, wide);
    copy_tile(m->second, grad_out + head * DIM, query, seq, wide);
    for (int key = 0; key < seq && (!causal || key < query + OWN); key += NEXT) {
        float s[1][NEXT / 8][4] = {}, g[1][NEXT / 8][4] = {};
        copy_tile(m->x, k + head * DIM, key, seq, wide);
        copy_tile(m->y, v + head * DIM, key, seq, wide);
        copies_done();
        __syncthreads();
        multiply_rows(s, m->first + threadIdx.x / 32 * 16, m->x);
        multiply_rows(g, m->second + threadIdx.x / 32 * 16, m->y);
        for (int j = 0; j < NEXT / 8; j++) {
            for (int e = 0; e < 4; e++) {
                const int to = key + j * 8 + threadIdx.x % 4 * 2 + e % 2;
                const int limit = causal ? query + own_row(e / 2) : seq - 1;
                const float p = exp2f((s[0][j][e] * scale - my_lse[e / 2]) * TO_2);
                g[0][j][e] = to <= limit && to < seq ? p * (g[0][j][e] - my_d[e / 2]) : 0.0f;
            }
        }
        multiply_weights(sum, g, m->x);
        __syncthreads();
    }
    store_rows(grad_q + head * DIM, sum, both, query + threadIdx.x / 32 * 16, seq, wide);
}

template <int DIM>
__global__ static void of_keys(bf16 *grad_k, bf16 *grad_v, const float *d, const bf16 *grad_out,
                               const float *lse, const bf16 *q, const bf16 *k, const bf16 *v,
                               int seq, int causal, float scale, bool wide)
{
    extern __shared__ __align__(256) char room[];
    memory<DIM> *m = (memory<DIM> *)room;
    const int blocks = (seq - 1) / OWN + 1, key = blockIdx.x % blocks * OWN;
    const size_t head = (size_t)(blockIdx.x / blocks) * seq;
    float sum_k[1][DIM / 8][4] = {}, sum_v[1][DIM / 8][4] = {};
    float both[2] = {scale, scale}, one[2] = {1, 1};

    copy_tile(m->first, k + head * DIM, key, seq, wide);
    copy_tile(m->second, v + head * DIM, key, seq, wide);
    for (int query = causal ? key : 0; query < seq; query += NEXT) {
        float s[1][NEXT / 8][4] = {}, g[1][NEXT / 8][4] = {};
        copy_tile(m->x, q + head * DIM, query, seq, wide);
        copy_tile(m->y, grad_out + head * DIM, query, seq, wide);
        copies_done();
        __syncthreads();
        multiply_rows(s, m->first + threadIdx.x / 32 * 16, m->x);
        multiply_rows(g, m->second + threadIdx.x / 32 * 16, m->y);
        for (int j = 0; j < NEXT / 8; j++) {
            for (int e = 0; e < 4; e++) {
                const int from = query + j * 8 + threadIdx.x % 4 * 2 + e % 2;
                const bool seen = from < seq && (!causal || key + own_row(e / 2) <= from);
                const float base = seen ? lse[head + from] : INFINITY;
                s[0][j][e] = exp2f((s[0][j][e] * scale - base) * TO_2);
                g[0][j][e] = seen ? s[0][j][e] * (g[0][j][e] - d[head + from]) : 0.0f;
            }
        }
        multiply_weights(sum_k, g, m->x);
        multiply_weights(sum_v, s, m->y);
        __syncthreads();
    }
    store_rows(grad_k + head * DIM, sum_k, both, key + threadIdx.x / 32 * 16, seq, wide);
    store_rows(grad_v + head * DIM, sum_v, one, key + threadIdx.x / 32 * 16, seq, wide);
}

template <int DIM>
static cudaError_t run(bf16 *grad_q, bf16 *grad_k, bf16 *grad_v, float *d, const bf16 *grad_out,
                       const bf16 *out, const float *lse, const bf16 *q, const bf16 *k,
                       const bf16 *v, unsigned heads, int seq, int causal, float scale,
                       cudaStream_t stream)
{
    const unsigned grid = heads * ((seq - 1) / OWN + 1), room = sizeof(memory<DIM>);
    const size_t any = (size_t)grad_q | (size_t)grad_k | (size_t)grad_v | (size_t)grad_out |
                       (size_t)q | (size_t)k | (size_t)v;
    of_queries<DIM><<<grid, 128, room, stream>>>(grad_q, d, grad_out, out, lse, q, k, v, seq,
                                                 causal, scale, any % 16 == 0);
    of_keys<DIM><<<grid, 128, room, stream>>>(grad_k, grad_v, d, grad_out, lse, q, k, v, seq,
                                              causal, scale, any % 16 == 0);
    return cudaGetLastError();
}

cudaError_t attention_flash2_backward(bf16 *grad_q, bf16 *grad_k, bf16 *grad_v,
                                      const bf16 *grad_out, const bf16 *out, const float *lse,
                                      const bf16 *q, const bf16 *k, const bf16 *v, int batch,
                                      int heads, int seq, int dim, int causal, float scale,
                                      cudaStream_t stream)
{
    float *d;
    if (dim != 64 && dim != 128) return cudaErrorInvalidValue;
    if (!batch || !heads || !seq) return cudaSuccess;
    cudaError_t error = cudaMallocAsync(&d, sizeof *d * batch * heads * seq, stream);
    if (error != cudaSuccess) return error;
    error = dim == 64 ? run<64>(grad_q, grad_k, grad_v, d, grad_out, out, lse, q, k, v,
                                batch * heads, seq, causal, scale, stream)
                      : run<128>(grad_q, grad_k, grad_v, d, grad_out, out, lse, q, k, v,
                                 batch * heads, seq, causal, scale, stream);
    cudaFreeAsync(d, stream);
    return error;
}
