/*
 * 312_embedding.cu: what a transformer needs besides products: embedding, residual, dropout.
 *
 * The embedding takes a row of a table for each token: a copy, by coalesced rows. The backward pass
 * is its opposite and the harder half: every token adds its row of grad_y to the row of the table
 * that it came from, and many tokens come from the same one. Blocks cannot know which other blocks
 * do, so they add by atomics; but an atomic per element makes a queue at every frequent token. So a
 * block takes a stretch of tokens and sorts it first. Equal tokens then stand side by side, a run:
 * a thread, which owns a column, sums the run in a register and adds it by one atomic.
 *
 *     tokens of the stretch   7 2 7 7 2          sorted   2 2 7 7 7
 *     their places            0 1 2 3 4                   1 4 0 2 3     two atomics, not five
 *
 * Dropout needs a random number per element, and in the backward pass the same ones again. They are
 * not kept: Philox is a function, from a counter to four random words, and computes them anew. No
 * thread has a state, none waits for another, and no order of threads changes anything.
 *
 * What it costs: stretches still add to the same row for a frequent token, in another order each
 * time, so the last bits of grad_table change from run to run. 3a sorts all tokens at once and
 * needs no atomics. And residual and dropout are trips through memory with next to no arithmetic:
 * 404 fuses them into a neighbouring kernel.
 *
 * Given: how each kernel divides its work, residual_kernel, and the launches of the embedding's
 * gradients. Yours: the other kernels, philox, and the remaining launches.
 */
#include "312_embedding/embedding.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"

#define THREADS 128 /* of a block; in embedding_backward its tokens and its columns, too */

/** y[batch x seq x dim] from tokens[batch x seq], table[vocab x dim] and positions[seq x dim], or
 *  NULL. A block has columns in x and places in y, and the batch is in z. The grid may be smaller:
 *  places go on in steps of gridDim.y * blockDim.y, and the batch in steps of gridDim.z. */
__global__ static void embedding_kernel(float *y, const int *tokens, const float *table,
                                        const float *positions, int batch, int seq, int dim)
{
    size_t col = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= dim) return;

    /* TODO: a thread owns a column of place t, reads its element of positions once, and goes
       through the batch (about 8 lines). */
}

#define IN_FLIGHT 8 /* independent loads of a thread */

/** grad_table[vocab x dim] += the rows of grad_y[rows x dim], each to the row of its token in
 *  tokens[rows]. A block has a stretch of THREADS tokens, of which `count` exist, and THREADS
 *  columns; `groups` blocks side by side share a stretch. */
__global__ static void grad_table_kernel(float *grad_table, const float *grad_y, const int *tokens,
                                         size_t rows, int dim, unsigned groups)
{
    __shared__ int unsorted[THREADS], token[THREADS + 1], place[THREADS];
    const int i = threadIdx.x;
    const size_t first = (size_t)(blockIdx.x / groups) * THREADS; /* row of the stretch */
    const int count = rows - first < THREADS ? (int)(rows - first) : THREADS;
    if (i < count) unsorted[i] = tokens[first + i];
    __syncthreads(); /* every thread looks at all of them */

    /* TODO: thread i finds the rank of token i, which is the number of those that come before
       it in order. It stores the token in token[rank] and its place i in place[rank]. token[count]
       is -1, no token, so that the last run ends like the others. A barrier (about 10 lines). */

    const size_t col = (size_t)(blockIdx.x % groups) * THREADS + i;
    if (col >= dim) return;
    /* TODO: walk along the sorted stretch and sum this column of grad_y, IN_FLIGHT loads before
       the first addition; where a run of equal tokens ends, add its sum by one atomic (about 12
       lines). */
}

/** grad_positions[size] = the sum of grad_y[batch x size] over the batch; size is seq * dim. */
__global__ static void grad_positions_kernel(float *grad_positions, const float *grad_y, int batch,
                                             size_t size)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= size) return;
    /* TODO: an element per thread, which sums the batch (about 3 lines). */
}

#define EACH 4 /* elements per thread, THREADS apart: all loads before the first store */

/** y[n] = a[n] + b[n]. */
__global__ static void residual_kernel(float *y, const float *a, const float *b, size_t n)
{
    size_t first = (size_t)blockIdx.x * (EACH * THREADS) + threadIdx.x;
    float sum[EACH];
    for (int e = 0; e < EACH; e++) {
        size_t i = first + e * THREADS;
        sum[e] = i < n ? a[i] + b[i] : 0.0f;
    }
    for (int e = 0; e < EACH; e++) {
        if (first + e * THREADS < n) y[first + e * THREADS] = sum[e];
    }
}

/** word[4] = the four random words of a counter; the seed is the key. */
__device__ static void philox(unsigned word[4], unsigned long long counter, unsigned long long seed)
{
    unsigned key0 = (unsigned)seed, key1 = (unsigned)(seed >> 32);
    word[0] = (unsigned)counter;
    word[1] = (unsigned)(counter >> 32);
    word[2] = word[3] = 0; /* the counter has 128 bits, of which 64 are enough */
    /* TODO: ten rounds; in each, two words are multiplied, the high halves of the products are
       mixed with the other two words and the key, and the key moves on (about 10 lines). */
}

/** y[n] = x[n] * scale where the element's word is at least `threshold`, else 0. A warp has 128
 *  elements: this lane's are x[first], x[first + 32], x[first + 64] and x[first + 96]. */
__global__ static void dropout_kernel(float *y, const float *x, size_t n, float scale,
                                      unsigned long long threshold, unsigned long long seed)
{
    const size_t thread = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const unsigned lane = threadIdx.x % 32;
    const size_t first = (thread - lane) * 4 + lane;
    /* TODO: read the elements first: while they are on their way, compute the words, counter
       `thread`, which decide on four neighbours. Then ask other lanes for the decisions on your own
       four, and write (about 12 lines). */
}

/** Forward and backward are the same: the mask depends on p and the seed alone. */
static void dropout(float *y, const float *x, size_t n, float p, unsigned long long seed,
                    cudaStream_t stream)
{
    if (n == 0) return; /* an empty grid is a launch error */
    /* TODO: the threshold, in integers and exact for every p, 1 too; the launch, four elements
       per thread (about 4 lines). */
    NOT_IMPLEMENTED(y, x, n, p, seed, stream);
}

cudaError_t embedding_forward(float *y, const int *tokens, const float *table,
                              const float *positions, int batch, int seq, int dim,
                              cudaStream_t stream)
{
    /* TODO: blocks of 32 x 4 threads over columns x places, and the batch in z; y and z of a
       grid end at 65,535; launch unless y is empty (about 5 lines). */
    NOT_IMPLEMENTED(y, tokens, table, positions, batch, seq, dim, stream);
    return cudaGetLastError();
}

cudaError_t embedding_backward(float *grad_table, float *grad_positions, const float *grad_y,
                               const int *tokens, int batch, int seq, int dim, int vocab,
                               cudaStream_t stream)
{
    (void)vocab; /* for versions that count how often each token occurs */
    size_t rows = (size_t)batch * seq, size = (size_t)seq * dim;
    /* TODO: without elements there is nothing to do (about 1 line). */
    NOT_IMPLEMENTED(grad_table, grad_positions, grad_y, tokens, batch, seq, dim, vocab, stream);
    if (rows > 0) {
        unsigned groups = (dim - 1) / THREADS + 1, stretches = (unsigned)((rows - 1) / THREADS + 1);
        grad_table_kernel<<<stretches * groups, THREADS, 0, stream>>>(grad_table, grad_y, tokens,
                                                                      rows, dim, groups);
    }
    if (grad_positions) {
        grad_positions_kernel<<<(unsigned)((size - 1) / THREADS + 1), THREADS, 0, stream>>>(
            grad_positions, grad_y, batch, size); /* zeros without a batch */
    }
    return cudaGetLastError();
}

cudaError_t residual_forward(float *y, const float *a, const float *b, size_t n,
                             cudaStream_t stream)
{
    /* TODO: launch unless n is 0 (about 3 lines). */
    NOT_IMPLEMENTED(y, a, b, n, stream);
    return cudaGetLastError();
}

cudaError_t dropout_forward(float *y, const float *x, size_t n, float p, unsigned long long seed,
                            cudaStream_t stream)
{
    /* TODO: dropout of x (1 line). */
    NOT_IMPLEMENTED(y, x, n, p, seed, stream);
    return cudaGetLastError();
}

cudaError_t dropout_backward(float *grad_x, const float *grad_y, size_t n, float p,
                             unsigned long long seed, cudaStream_t stream)
{
    /* TODO: dropout of grad_y (1 line). */
    NOT_IMPLEMENTED(grad_x, grad_y, n, p, seed, stream);
    return cudaGetLastError();
}
