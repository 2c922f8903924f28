/*
 * 302_bias.cu: add a row vector to every row; backward, sum the columns.
 *
 * The idea: forward every element is on its own. Backward bias[col] was used in every row, so that
 * its gradient is a sum down a column, and a row-major matrix is laid out the other way. A thread
 * per column would be coalesced, but there are only as many threads as columns: a GPU that wants
 * tens of thousands gets 512. So a column gets more threads, in two ways:
 *
 *     in a block   the lanes of a warp stay neighbours in a row (one 128-byte line); the 8 warps
 *                  take every 8th row, and their sums meet in shared memory
 *     in the grid  the rows are cut into slices, a block each; every slice leaves a row of sums,
 *                  and a second launch of the same kernel sums those rows
 *
 * And each thread has several loads on the way before it adds the first (208). All blocks run at
 * once: of a second round that is not full, most multiprocessors would see nothing. What is read is
 * marked as read once (__ldcs), so that it does not push from the cache what others need. The order
 * of additions depends on the sizes alone: the same bits every time, which atomicAdd on floats
 * could not promise.
 *
 * What it costs: a second launch, some microseconds; a matrix of few rows does without. The sums of
 * the slices lie in a __device__ array, so that two calls on two streams at once would spoil each
 * other's.
 */
#include "302_bias/bias.h"
#include "not_implemented.h"

/* TODO: bias_forward_kernel: a thread owns a column, reads its bias once, and strides down the
   rows (about 8 lines). */

/* TODO: the sizes, and column_sums_kernel: block (x, y) sums slice y of the rows, of 32
   columns. Each thread strides down the slice, IN_FLIGHT loads a turn before it adds any; then a
   tree over the warps in shared memory (about 33 lines). */

cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream)
{
    /* TODO: blocks of 32 x 8 threads over columns x rows, at most 1,024 of them down the rows;
       launch unless y is empty (about 5 lines). */
    NOT_IMPLEMENTED(y, x, bias, rows, cols, stream);
    return cudaGetLastError();
}

cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream)
{
    /* TODO: how many slices: no more than BLOCKS blocks, none shorter than SLICE rows, at least
       one. One alone writes grad_bias; of several, a second launch sums the sums. Nothing is
       launched without columns; no rows give zeros (about 14 lines). */
    NOT_IMPLEMENTED(grad_bias, grad_y, rows, cols, stream);
    return cudaGetLastError();
}
