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
#include "not_implemented.h"

#define THREADS  128 /* of a block in runs_kernel, also its sorted tokens and its columns */
#define DIGITS   256 /* of a pass, the threads of a block that sorts, the tokens of a tile */
#define SEGMENTS 64  /* of the text, at most: every block of the sort adds up the counts of all */

/* TODO: count_kernel: counts[segment x digit]: how often each segment of the text has each
   digit (about 11 lines). */

/* TODO: begin_of_digit: where the tokens of this segment with this thread's digit go: behind
   all lower digits, and behind the equal ones of the segments before (about 14 lines). */

/* TODO: move_kernel: tile by tile, each token and its row go where its digit begins, behind the
   equal ones before it in the tile; then the digit begins behind them all. In the first pass there
   are no rows yet: NULL (about 19 lines). */

/* TODO: runs_kernel: as in 312, a block sums THREADS sorted tokens in THREADS columns. A run
   that ends here and began here goes to the table. One that began before leaves its part in head,
   one that begins here and goes on in tail (about 34 lines). */

/* TODO: join_kernel: where a run goes on, the stretch in which it begins adds its tail and, in
   order, the heads of the stretches behind it (about 22 lines). */

/* TODO: sort: token and row, [2][n] each, in turn the source and the destination of a pass.
   @return which of the two has the result (about 17 lines). */

/* TODO: add_table: allocate memory in the stream; sort, sum the runs, join them (about 22
   lines). */

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
