/*
 * 3a_deterministic_backward.cu: the gradient of an embedding's table, the same bits every time.
 *
 * The idea: additions of floats in another order give another sum, and atomics come in any order.
 * 312 sorted stretches of tokens, and the stretches met by atomics. Here all tokens are sorted, and
 * the sort is stable: equal tokens stay in the order of the text. Each row of the table then gets
 * one run of neighbours, and its additions have one order.
 *
 * Sorting is by radix: a pass for each 8 bits of the token. The text is cut into segments, one per
 * block. A pass counts the digits of each segment, and moves every token to where its digit
 * begins: behind all lower digits, behind the equal ones of the segments before, and behind those
 * before it in its own. 50,257 tokens need two passes.
 *
 * A run may be all of the text, and one thread must not walk it alone. So the sorted tokens are cut
 * into stretches again, and a block sums each. A run inside a stretch is complete. Of a run that
 * goes on, each stretch leaves its part in memory, and a second kernel adds the parts in order:
 *
 *     sorted   2 2 2 4 | 7 7 7 7 | 7 7 9 9          run of 7: two heads; no other block adds them
 *                            head      head, then the run of 9
 *
 * What it costs: two small launches per pass, whose work is small next to the gradient's (8 bytes
 * per token, not 4 per token and column), and memory for the parts, a 64th of the gradient.
 */
#include "302_bias/bias.h"
#include "3a_deterministic_backward/deterministic_backward.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"

#define THREADS  128 /* of a block in runs_kernel, also its sorted tokens and its columns */
#define DIGITS   256 /* of a pass, the threads of a block that sorts, the tokens of a tile */
#define SEGMENTS 64  /* of the text, at most: every block of the sort adds up the counts of all */

/** counts[segment x digit]: how often each segment of the text has each digit. A block per segment.
 */
__global__ static void count_kernel(int *counts, const int *tokens, size_t n, size_t segment,
                                    int shift)
{
    /* TODO: count in shared memory; then each thread stores its digit (about 9 lines). */
}

/** Where the tokens of this segment with this thread's digit go: behind all lower digits, and
 * behind the equal ones of the segments before. */
__device__ static int begin_of_digit(const int *counts)
{
    /* TODO: of all segments, and of those before; then the digits below (about 12 lines). */
    return {};
}

/** Each token and its row go where its digit begins, in the order of the text. In the first pass
 * there are no rows yet: NULL. */
__global__ static void move_kernel(int *to_token, int *to_row, const int *tokens, const int *rows,
                                   const int *counts, size_t n, size_t segment, int shift)
{
    /* TODO: tile by tile: a token goes behind the equal ones before it in the tile; then the
       digit begins behind them all (about 17 lines). */
}

#define IN_FLIGHT 8 /* independent loads of a thread */

/** As in 312, a block sums THREADS sorted tokens in THREADS columns. A run that ends here and began
 * here goes to the table. One that began before leaves its part in head, one that begins here and
 * goes on in tail. head, tail [stretches x dim]. token, row [n], sorted. */
__global__ static void runs_kernel(float *grad_table, float *head, float *tail, const float *grad_y,
                                   const int *token, const int *row, int n, int dim,
                                   unsigned groups)
{
    const size_t stretch = blockIdx.x / groups, first = stretch * THREADS;
    const size_t col = (size_t)(blockIdx.x % groups) * THREADS + threadIdx.x;
    const int end = (int)(first + THREADS < n ? first + THREADS : n);
    if (col >= dim) return;

    /* TODO: IN_FLIGHT loads at a time; a run ends at another token, or with the stretch (about
       25 lines). */
}

/** Where a run goes on, the stretch in which it begins adds its tail and, in order, the heads of
 * the stretches behind it. */
__global__ static void join_kernel(float *grad_table, const float *head, const float *tail,
                                   const int *token, int n, int dim, unsigned groups)
{
    const size_t stretch = blockIdx.x / groups, next = (stretch + 1) * THREADS;
    const size_t col = (size_t)(blockIdx.x % groups) * THREADS + threadIdx.x;
    /* TODO: not where the run ends here or began before; the last stretch that begins with its
       token, by halving; the sum (about 18 lines). */
}

/** Sort by token. token and row, [2][n] each, are in turn the source and the destination of a pass.
 *  @return which of the two has the result */
static int sort(int *token[2], int *row[2], int *counts, const int *tokens, size_t n, int vocab,
                cudaStream_t stream)
{
    size_t tiles = (n - 1) / DIGITS + 1, segment = ((tiles - 1) / SEGMENTS + 1) * DIGITS;
    unsigned segments = (unsigned)((n - 1) / segment + 1);
    int to = 1;
    /* TODO: a pass for each 8 bits that a token of this vocabulary may have; the first one
       reads `tokens` (about 9 lines). */
    NOT_IMPLEMENTED(token, row, counts, tokens, n, vocab, stream);
    return to;
}

/** Memory in the stream; sort, sum the runs, join them. */
static cudaError_t add_table(float *grad_table, const float *grad_y, const int *tokens, int n,
                             int dim, int vocab, cudaStream_t stream)
{
    unsigned groups = (dim - 1) / THREADS + 1, stretches = (n - 1) / THREADS + 1;
    size_t tiles = (n - 1) / DIGITS + 1, counters = (tiles < SEGMENTS ? tiles : SEGMENTS) * DIGITS;
    size_t parts = (size_t)stretches * dim;
    size_t bytes = 2 * parts * sizeof(float) + (counters + 4 * (size_t)n) * sizeof(int);
    float *head;
    cudaError_t error = cudaMallocAsync((void **)&head, bytes, stream);
    if (error != cudaSuccess) return error;
    float *tail = head + parts;
    int *counts = (int *)(tail + parts), *sorted = counts + counters;
    int *token[] = {sorted, sorted + n}, *row[] = {sorted + 2 * (size_t)n, sorted + 3 * (size_t)n};

    int which = sort(token, row, counts, tokens, n, vocab, stream);
    runs_kernel<<<stretches * groups, THREADS, 0, stream>>>(
        grad_table, head, tail, grad_y, token[which], row[which], n, dim, groups);
    join_kernel<<<stretches * groups, THREADS, 0, stream>>>(grad_table, head, tail, token[which], n,
                                                            dim, groups);
    error = cudaGetLastError();
    cudaFreeAsync(head, stream);
    return error;
}

cudaError_t embedding_backward_deterministic(float *grad_table, float *grad_positions,
                                             const float *grad_y, const int *tokens, int batch,
                                             int seq, int dim, int vocab, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* TODO: the table, unless there are no tokens; the positions are the column sums of a
       matrix of a row per sequence (302), which have the same bits every time (about 5 lines). */
    NOT_IMPLEMENTED(grad_table, grad_positions, grad_y, tokens, batch, seq, dim, vocab, stream);
    return error;
}
