/*
 * 510_tokens.cuh: what stands at both ends of the network, and what moves numbers and computes
 * nothing: rows for tokens, the loss with its gradient, heads, and weights rounded to bf16.
 *
 * The loss. Logits are the largest array there is: 50,257 for each token. They are in memory for a
 * part of the tokens at a time, and their gradient takes their place: a block reads a row for its
 * maximum and sum at once (304's online form), and reads it again, from a cache, to overwrite it.
 */
#ifndef TOKENS_CUH
#define TOKENS_CUH

#include "510_rows.cuh"
#include <float.h>

/* TODO: embed_kernel, 8 channels a thread: from the parameters in fp32, rounded once (about 15
   lines). */

/* TODO: merge, of two maxima and what is summed relative to them; loss_kernel, a block a row
   (about 60 lines). */

/* TODO: heads_kernel, as 508's but a chunk of 8 a thread; round_kernel and widen_kernel, 8 a
   thread (about 45 lines). */

#define CHUNK_THREADS 256

static inline unsigned chunk_blocks(size_t chunks)
{
    return (unsigned)((chunks + CHUNK_THREADS - 1) / CHUNK_THREADS);
}

/** x [batch x seq x channels] = wte[token] + wpe[place] */
static inline cudaError_t embed(bf16 *x, const int *tokens, const float *wte, const float *wpe,
                                int batch, int seq, int channels, cudaStream_t stream)
{
    /* TODO: the launch (about 3 lines). */
    NOT_IMPLEMENTED(x, tokens, wte, wpe, batch, seq, channels, stream);
    return cudaGetLastError();
}

/** losses [rows]: of each row, times scale; logits [rows x pitch] become their gradient, times it
 */
static inline cudaError_t loss_in_place(float *losses, bf16 *logits, const int *targets, int rows,
                                        int vocab, int pitch, float scale, cudaStream_t stream)
{
    /* TODO: the launch (about 2 lines). */
    NOT_IMPLEMENTED(losses, logits, targets, rows, vocab, pitch, scale, stream);
    return cudaGetLastError();
}

/** heads [parts x batch x heads x seq x dim] = rows [batch x seq x parts x heads x dim], or,
 * without split, the other way round. */
static inline cudaError_t move_heads(bool split, bf16 *to, const bf16 *from, int parts, int batch,
                                     int seq, int heads, int dim, cudaStream_t stream)
{
    /* TODO: one of two launches (about 5 lines). */
    NOT_IMPLEMENTED(split, to, from, parts, batch, seq, heads, dim, stream);
    return cudaGetLastError();
}

/** count is a multiple of 8. */
static inline cudaError_t round_all(bf16 *to, const float *from, size_t count, cudaStream_t stream)
{
    /* TODO: the launch (about 2 lines). */
    NOT_IMPLEMENTED(to, from, count, stream);
    return cudaGetLastError();
}

static inline cudaError_t widen_all(float *to, const bf16 *from, size_t count, cudaStream_t stream)
{
    /* TODO: the launch (about 2 lines). */
    NOT_IMPLEMENTED(to, from, count, stream);
    return cudaGetLastError();
}

#endif
