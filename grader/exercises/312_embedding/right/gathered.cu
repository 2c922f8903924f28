// RIGHT: no atomics: the owner of a row of the table looks through all tokens for its own; one
// template walks every array; dropout in a grid-stride loop over counters
#include "312_embedding/embedding.h"

#include <math.h>

#define ALL 0xffffffffu

/* A flat loop over n elements. */
template <typename BODY> __global__ static void each_kernel(size_t n, BODY body)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) body(i);
}

template <typename BODY> static cudaError_t for_each(size_t n, cudaStream_t stream, BODY body)
{
    const unsigned blocks = n < 128 * 4096 ? (unsigned)((n + 127) / 128) : 4096;
    if (n > 0) each_kernel<<<blocks, 128, 0, stream>>>(n, body);
    return cudaGetLastError();
}

struct look_up {
    float *y;
    const int *tokens;
    const float *table, *positions;
    int seq, dim;

    __device__ void operator()(size_t i) const
    {
        const size_t row = i / dim, col = i - row * dim;
        float value = table[(size_t)tokens[row] * dim + col];
        if (positions) value += positions[row % seq * dim + col];
        y[i] = value;
    }
};

struct over_batch {
    float *sum;
    const float *grad_y;
    size_t size;
    int batch;

    __device__ void operator()(size_t i) const
    {
        float s = 0.0f;
        for (int b = batch - 1; b >= 0; b--) s += grad_y[b * size + i];
        sum[i] = s;
    }
};

struct addition {
    float *y;
    const float *a, *b;

    __device__ void operator()(size_t i) const
    {
        y[i] = a[i] + b[i];
    }
};

struct four_decisions {
    float *y;
    const float *x;
    size_t n;
    float factor;
    unsigned long long limit, seed;

    __device__ void operator()(size_t counter) const
    {
        unsigned w0 = (unsigned)counter, w1 = (unsigned)(counter >> 32), w2 = 0, w3 = 0;
        unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
        for (int turn = 0; turn < 10; turn++) {
            const unsigned high = __umulhi(w0, 0xD2511F53u), low = w0 * 0xD2511F53u;
            w0 = __umulhi(w2, 0xCD9E8D57u) ^ w1 ^ k0;
            w1 = w2 * 0xCD9E8D57u;
            w2 = high ^ w3 ^ k1;
            w3 = low;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        decide(counter * 4, w0);
        decide(counter * 4 + 1, w1);
        decide(counter * 4 + 2, w2);
        decide(counter * 4 + 3, w3);
    }
    __device__ void decide(size_t i, unsigned long long word) const
    {
        if (i < n) y[i] = word < limit ? 0.0f : x[i] * factor;
    }
};

/* A warp per token of the vocabulary and 32 columns. */
__global__ static void owner_kernel(float *grad_table, const float *grad_y, const int *tokens,
                                    size_t rows, int dim)
{
    const int own = blockIdx.x, lane = threadIdx.x;
    for (size_t col = lane; col - lane < dim; col += 32) {
        float sum = 0.0f;
        for (size_t first = 0; first < rows; first += 32) {
            const bool is_own = first + lane < rows && tokens[first + lane] == own;
            for (unsigned who = __ballot_sync(ALL, is_own); who; who &= who - 1) {
                if (col < dim) sum += grad_y[(first + __ffs(who) - 1) * dim + col];
            }
        }
        if (col < dim && sum != 0.0f) grad_table[(size_t)own * dim + col] += sum;
    }
}

cudaError_t embedding_forward(float *y, const int *tokens, const float *table,
                              const float *positions, int batch, int seq, int dim,
                              cudaStream_t stream)
{
    return for_each((size_t)batch * seq * dim, stream,
                    look_up{y, tokens, table, positions, seq, dim});
}

cudaError_t embedding_backward(float *grad_table, float *grad_positions, const float *grad_y,
                               const int *tokens, int batch, int seq, int dim, int vocab,
                               cudaStream_t stream)
{
    const size_t size = (size_t)seq * dim;
    if (vocab > 0)
        owner_kernel<<<vocab, 32, 0, stream>>>(grad_table, grad_y, tokens, (size_t)batch * seq,
                                               dim);
    if (!grad_positions) return cudaGetLastError();
    return for_each(size, stream, over_batch{grad_positions, grad_y, size, batch});
}

cudaError_t residual_forward(float *y, const float *a, const float *b, size_t n,
                             cudaStream_t stream)
{
    return for_each(n, stream, addition{y, a, b});
}

cudaError_t dropout_forward(float *y, const float *x, size_t n, float p, unsigned long long seed,
                            cudaStream_t stream)
{
    const double limit = ceil((double)p * 4294967296.0);
    return for_each((n + 3) / 4, stream,
                    four_decisions{y, x, n, 1.0f / (1.0f - p), (unsigned long long)limit, seed});
}

cudaError_t dropout_backward(float *grad_x, const float *grad_y, size_t n, float p,
                             unsigned long long seed, cudaStream_t stream)
{
    return dropout_forward(grad_x, grad_y, n, p, seed, stream);
}
