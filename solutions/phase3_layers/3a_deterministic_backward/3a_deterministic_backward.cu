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
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"

#define THREADS  128 /* of a block in runs_kernel, also its sorted tokens and its columns */
#define DIGITS   256 /* of a pass, the threads of a block that sorts, the tokens of a tile */
#define SEGMENTS 64  /* of the text, at most: every block of the sort adds up the counts of all */

/** counts[segment x digit]: how often each segment of the text has each digit. A block per segment.
 */
__global__ static void count_kernel(int *counts, const int *tokens, size_t n, size_t segment,
                                    int shift)
{
    /* SOLUTION: count in shared memory; then each thread stores its digit (about 9 lines). */
    __shared__ int of_digit[DIGITS];
    size_t first = blockIdx.x * segment, end = min(first + segment, n);
    of_digit[threadIdx.x] = 0;
    __syncthreads(); /* no thread counts before all are 0 */
    for (size_t i = first + threadIdx.x; i < end; i += DIGITS) {
        atomicAdd(&of_digit[tokens[i] >> shift & (DIGITS - 1)], 1); /* integers: exact */
    }
    __syncthreads(); /* all are counted */
    counts[blockIdx.x * DIGITS + threadIdx.x] = of_digit[threadIdx.x];
    /* END SOLUTION */
}

/** Where the tokens of this segment with this thread's digit go: behind all lower digits, and
 * behind the equal ones of the segments before. */
__device__ static int begin_of_digit(const int *counts)
{
    /* SOLUTION: of all segments, and of those before; then the digits below (about 12 lines). */
    __shared__ int total[DIGITS];
    int before = 0, all = 0;
#pragma unroll 16
    for (int s = 0; s < gridDim.x; s++) {
        int count = counts[s * DIGITS + threadIdx.x];
        all += count;
        before += s < blockIdx.x ? count : 0;
    }
    total[threadIdx.x] = all;
    __syncthreads(); /* every thread adds up those below its own */
    for (int digit = 0; digit < threadIdx.x; digit++) before += total[digit];
    return before;
    /* END SOLUTION */
}

/** Each token and its row go where its digit begins, in the order of the text. In the first pass
 * there are no rows yet: NULL. */
__global__ static void move_kernel(int *to_token, int *to_row, const int *tokens, const int *rows,
                                   const int *counts, size_t n, size_t segment, int shift)
{
    /* SOLUTION: tile by tile: a token goes behind the equal ones before it in the tile; then the
       digit begins behind them all (about 17 lines). */
    __shared__ int begin[DIGITS], digits[DIGITS];
    size_t first = blockIdx.x * segment, end = min(first + segment, n);
    begin[threadIdx.x] = begin_of_digit(counts);
    for (size_t tile = first; tile < end; tile += DIGITS) {
        size_t i = tile + threadIdx.x;
        int mine = i < end ? tokens[i] >> shift & (DIGITS - 1) : 0, rank = 0;
        digits[threadIdx.x] = mine;
        __syncthreads(); /* all digits are there, and where each begins */
        for (int j = 0; j < threadIdx.x; j++) rank += digits[j] == mine; /* stable */
        int to = begin[mine] + rank;
        if (i < end) to_token[to] = tokens[i];
        if (i < end) to_row[to] = rows ? rows[i] : (int)i;
        __syncthreads(); /* no thread reads them any more */
        if (i < end) atomicAdd(&begin[mine], 1);
    }
    /* END SOLUTION */
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

    /* SOLUTION: IN_FLIGHT loads at a time; a run ends at another token, or with the stretch (about
       25 lines). */
    bool began_here = first == 0 || token[first - 1] != token[first];
    float sum = 0.0f, next[IN_FLIGHT];
    for (int k = (int)first; k < end; k += IN_FLIGHT) {
#pragma unroll
        for (int e = 0; e < IN_FLIGHT; e++) {
            next[e] = k + e < end ? grad_y[(size_t)row[k + e] * dim + col] : 0.0f;
        }
#pragma unroll
        for (int e = 0; e < IN_FLIGHT; e++) {
            int at = k + e;
            if (at >= end) break;
            sum += next[e];
            bool goes_on = at + 1 < n && token[at + 1] == token[at];
            if (goes_on && at + 1 < end) continue;
            if (!began_here)
                head[stretch * dim + col] = sum;
            else if (goes_on)
                tail[stretch * dim + col] = sum;
            else
                grad_table[(size_t)token[at] * dim + col] += sum;
            began_here = true;
            sum = 0.0f;
        }
    }
    /* END SOLUTION */
}

/** Where a run goes on, the stretch in which it begins adds its tail and, in order, the heads of
 * the stretches behind it. */
__global__ static void join_kernel(float *grad_table, const float *head, const float *tail,
                                   const int *token, int n, int dim, unsigned groups)
{
    const size_t stretch = blockIdx.x / groups, next = (stretch + 1) * THREADS;
    const size_t col = (size_t)(blockIdx.x % groups) * THREADS + threadIdx.x;
    /* SOLUTION: not where the run ends here or began before; the last stretch that begins with its
       token, by halving; the sum (about 18 lines). */
    if (col >= dim || next >= n || token[next] != token[next - 1]) return; /* ends here */
    const int mine = token[next];
    if (token[stretch * THREADS] == mine && (stretch > 0 && token[stretch * THREADS - 1] == mine))
        return; /* began before */

    size_t low = stretch + 1, high = (n - 1) / THREADS; /* the last stretch that begins with it */
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (token[middle * THREADS] == mine)
            low = middle;
        else
            high = middle - 1;
    }
    float sum = tail[stretch * dim + col];
#pragma unroll 8
    for (size_t s = stretch + 1; s <= low; s++) sum += head[s * dim + col];
    grad_table[(size_t)mine * dim + col] += sum;
    /* END SOLUTION */
}

/** Sort by token. token and row, [2][n] each, are in turn the source and the destination of a pass.
 *  @return which of the two has the result */
static int sort(int *token[2], int *row[2], int *counts, const int *tokens, size_t n, int vocab,
                cudaStream_t stream)
{
    size_t tiles = (n - 1) / DIGITS + 1, segment = ((tiles - 1) / SEGMENTS + 1) * DIGITS;
    unsigned segments = (unsigned)((n - 1) / segment + 1);
    int to = 1;
    /* SOLUTION: a pass for each 8 bits that a token of this vocabulary may have; the first one
       reads `tokens` (about 9 lines). */
    for (int shift = 0; shift == 0 || (shift < 32 && (vocab - 1) >> shift > 0); shift += 8) {
        const int *from = shift == 0 ? tokens : token[to];
        const int *from_row = shift == 0 ? NULL : row[to];
        to = 1 - to;
        count_kernel<<<segments, DIGITS, 0, stream>>>(counts, from, n, segment, shift);
        move_kernel<<<segments, DIGITS, 0, stream>>>(token[to], row[to], from, from_row, counts, n,
                                                     segment, shift);
    }
    /* END SOLUTION */
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
    /* SOLUTION: the table, unless there are no tokens; the positions are the column sums of a
       matrix of a row per sequence (302), which have the same bits every time (about 5 lines). */
    if (batch > 0 && seq > 0 && dim > 0) {
        error = add_table(grad_table, grad_y, tokens, batch * seq, dim, vocab, stream);
    }
    if (error != cudaSuccess || !grad_positions) return error;
    error = bias_backward(grad_positions, grad_y, batch, seq * dim, stream);
    /* END SOLUTION */
    return error;
}
