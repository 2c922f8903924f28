/*
 * 510_tokens.cuh: both ends of the network, and kernels that only move numbers: rows for tokens,
 * the loss with its gradient, heads, and weights rounded to bf16.
 *
 * The loss. Logits are the largest array there is: 50,257 for each token. They are in memory for a
 * part of the tokens at a time, and their gradient takes their place: a block reads a row for its
 * maximum and sum at once (304's online form), and reads it again, from a cache, to overwrite it.
 *
 * All but loss_kernel is given.
 */
#ifndef TOKENS_CUH
#define TOKENS_CUH

#include "510_rows.cuh"
#include <float.h>

/* 8 channels a thread: from the parameters in fp32, rounded once. */
__global__ static void embed_kernel(bf16 *x, const int *tokens, const float *wte, const float *wpe,
                                    size_t chunks, int seq, int channels)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chunks) return;
    const size_t row = i * 8 / channels, col = i * 8 % channels;
    const float *token = wte + (size_t)tokens[row] * channels + col;
    const float *place = wpe + row % seq * channels + col;
    eight sum;
    for (int e = 0; e < 8; e++) sum.v[e] = token[e] + place[e];
    store_eight(x + i * 8, sum);
}

#define LOSS_THREADS 256

/** Of some x: the largest, and the sum of e^(x - high). */
struct online {
    float high, sum;
};

__device__ __forceinline__ static online merge(online a, online b)
{
    const float high = fmaxf(a.high, b.high);
    return {high, a.sum * __expf(a.high - high) + b.sum * __expf(b.high - high)};
}

/** @return of all that the threads of a block have; all of them call it, and all get it */
__device__ static online over_block(online mine)
{
    __shared__ online parts[LOSS_THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2)
        mine = merge(mine, {__shfl_xor_sync(0xffffffffu, mine.high, distance),
                            __shfl_xor_sync(0xffffffffu, mine.sum, distance)});
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads(); /* every warp has left its part */
    mine = parts[0];
    for (int w = 1; w < LOSS_THREADS / 32; w++) mine = merge(mine, parts[w]);
    return mine;
}

/** A block a row: logits [rows x pitch] become their gradient, scale * (softmax - onehot); behind
 * the vocabulary they become 0. losses [rows]: scale * (log of the sum of e^x - x of the target).
 *  pitch is a multiple of 8. */
__global__ static void loss_kernel(float *losses, bf16 *logits, const int *targets, int vocab,
                                   int pitch, float scale)
{
    /* TODO: once through the row, 8 logits at a time (load_eight), what is left behind the last
       8 one by one: each thread keeps the largest and the sum relative to it, then over_block. It
       begins with {-FLT_MAX, 0}: with no logit at all, -infinity less -infinity would be NaN.
       Thread 0 takes the target's logit and writes the loss; a barrier, since that logit is about
       to be overwritten. Once more through all of pitch, 8 at a time, with store_eight: scale *
       softmax is e^(x - all), where all is the logarithm of sum / scale, plus high. A barrier, and
       thread 0 overwrites that of the target (about 30 lines). */
}

/** As 508's, but a chunk of 8 a thread: rows [batch x seq x parts x heads x dim] to or from [parts
 * x batch x heads x seq x dim]. */
template <bool SPLIT>
__global__ static void heads_kernel(uint4 *to, const uint4 *from, size_t chunks, int parts,
                                    int batch, int seq, int heads, int width)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; /* along rows */
    if (i >= chunks) return;
    size_t d = i % width, rest = i / width; /* width: chunks of a head */
    const size_t head = rest % heads;
    rest /= heads;
    const size_t part = rest % parts;
    rest /= parts;
    const size_t t = rest % seq, b = rest / seq;
    const size_t at = (((part * batch + b) * heads + head) * seq + t) * width + d;
    if (SPLIT)
        to[at] = from[i];
    else
        to[i] = from[at];
}

/* 8 a thread, as widen_kernel. */
__global__ static void round_kernel(bf16 *to, const float *from, size_t chunks)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chunks) return;
    const float4 low = ((const float4 *)from)[2 * i], high = ((const float4 *)from)[2 * i + 1];
    store_eight(to + i * 8, {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w});
}

__global__ static void widen_kernel(float *to, const bf16 *from, size_t chunks)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chunks) return;
    const eight x = load_eight(from + i * 8);
    ((float4 *)to)[2 * i] = make_float4(x.v[0], x.v[1], x.v[2], x.v[3]);
    ((float4 *)to)[2 * i + 1] = make_float4(x.v[4], x.v[5], x.v[6], x.v[7]);
}

#define CHUNK_THREADS 256

static inline unsigned chunk_blocks(size_t chunks)
{
    return (unsigned)((chunks + CHUNK_THREADS - 1) / CHUNK_THREADS);
}

/** x [batch x seq x channels] = wte[token] + wpe[place] */
static inline cudaError_t embed(bf16 *x, const int *tokens, const float *wte, const float *wpe,
                                int batch, int seq, int channels, cudaStream_t stream)
{
    const size_t chunks = (size_t)batch * seq * channels / 8;
    embed_kernel<<<chunk_blocks(chunks), CHUNK_THREADS, 0, stream>>>(x, tokens, wte, wpe, chunks,
                                                                     seq, channels);
    return cudaGetLastError();
}

/** losses [rows]: of each row, times scale; logits [rows x pitch] become their gradient, times it
 */
static inline cudaError_t loss_in_place(float *losses, bf16 *logits, const int *targets, int rows,
                                        int vocab, int pitch, float scale, cudaStream_t stream)
{
    loss_kernel<<<rows, LOSS_THREADS, 0, stream>>>(losses, logits, targets, vocab, pitch, scale);
    return cudaGetLastError();
}

/** heads [parts x batch x heads x seq x dim] = rows [batch x seq x parts x heads x dim], or,
 * without split, the other way round. */
static inline cudaError_t move_heads(bool split, bf16 *to, const bf16 *from, int parts, int batch,
                                     int seq, int heads, int dim, cudaStream_t stream)
{
    const size_t chunks = (size_t)parts * batch * seq * heads * dim / 8;
    auto *kernel = split ? heads_kernel<true> : heads_kernel<false>;
    kernel<<<chunk_blocks(chunks), CHUNK_THREADS, 0, stream>>>(
        (uint4 *)to, (const uint4 *)from, chunks, parts, batch, seq, heads, dim / 8);
    return cudaGetLastError();
}

/** count is a multiple of 8. */
static inline cudaError_t round_all(bf16 *to, const float *from, size_t count, cudaStream_t stream)
{
    round_kernel<<<chunk_blocks(count / 8), CHUNK_THREADS, 0, stream>>>(to, from, count / 8);
    return cudaGetLastError();
}

static inline cudaError_t widen_all(float *to, const bf16 *from, size_t count, cudaStream_t stream)
{
    widen_kernel<<<chunk_blocks(count / 8), CHUNK_THREADS, 0, stream>>>(to, from, count / 8);
    return cudaGetLastError();
}

#endif
