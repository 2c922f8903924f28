/*
 * 312_embedding.cu: what a transformer needs beside products: embedding, residual, dropout.
 *
 * The embedding takes a row of a table for each token: a copy, by coalesced rows. Backward is its
 * opposite and the hard half: every token adds its row of grad_y to the row of the table that it
 * came from, and many tokens come from the same one. Blocks cannot know who else does, so they add
 * by atomics; but an atomic for every element makes a queue at every frequent token. So a block
 * takes a stretch of tokens and sorts it first. Equal tokens then stand side by side, a run: a
 * thread, which owns a column, sums the run in a register and adds it by one atomic.
 *
 *     tokens of the stretch   7 2 7 7 2          sorted   2 2 7 7 7
 *     their places            0 1 2 3 4                   1 4 0 2 3     two atomics, not five
 *
 * Dropout needs a random number per element, and in the backward pass the same ones again. They are
 * not kept: Philox is a function, from a counter to four random words, and computes them anew. No
 * thread has a state, none waits for another, and no order of threads changes anything.
 *
 * What it costs: what different stretches add to a frequent token still meets in one place, and in
 * another order each time, so that the last bits of grad_table change from run to run. 3a sorts
 * all tokens at once and needs no atomics. And residual and dropout are trips through memory with
 * next to no arithmetic: 404 puts them into the kernel next door.
 */
#include "312_embedding/embedding.h"
#include "not_implemented.h"

#define THREADS 128 /* of a block; in embedding_backward its tokens and its columns, too */

/* TODO: embedding_kernel: a thread owns a column of place t, reads its element of positions
   once, and goes through the batch (about 14 lines). */

/* TODO: grad_table_kernel. A block has THREADS tokens and THREADS columns. Thread i finds the
   rank of token i, the number of those that come before it in order; then it owns a column, and
   adds each run of equal tokens by one atomic (about 35 lines). */

/* TODO: grad_positions_kernel: an element per thread, which sums the batch (about 9 lines). */

/* TODO: residual_kernel: EACH elements per thread, THREADS apart, all loads before the first
   store (about 13 lines). */

/* TODO: philox: the four words of a counter. Ten rounds; in each, two words are multiplied, the
   high halves of the products are mixed with the other two words and the key, and the key moves on
   (about 17 lines). */

/* TODO: dropout_kernel. A warp has 128 elements: each lane decides four neighbours with its
   four words, and reads and writes elements 32 apart, whose decisions it asks other lanes for. It
   reads first: while the elements are on their way, it computes the words. A word is kept from
   `threshold` on. And dropout, which launches it (about 29 lines). */

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
    (void)vocab; /* for those who count how often each token occurs */
    /* TODO: for the table a block per THREADS tokens and THREADS columns, all in x, unless
       there are no tokens; the positions, where they are wanted, are zeros without a batch (about
       11 lines). */
    NOT_IMPLEMENTED(grad_table, grad_positions, grad_y, tokens, batch, seq, dim, vocab, stream);
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
