/*
 * 302_bias.cu: add a row vector to every row; backward, sum the columns.
 *
 * The idea: forward every element is on its own. Backward bias[col] was used in every row, so that
 * its gradient is a sum down a column, and a row-major matrix is laid out the other way. A thread a
 * column would be coalesced, but there are only as many threads as columns: a GPU that wants tens
 * of thousands gets 128. So a block takes 32 columns and 32 threads for each of them. The lanes of
 * a warp stay neighbours in a row (one 128-byte line), the 32 warps take every 32nd row, and their
 * sums meet in shared memory. The order of additions is fixed: the same bits every time, which
 * atomicAdd on floats could not promise.
 *
 * What it costs: a matrix of 128 columns makes four blocks, and most of a large GPU stands idle.
 * Splitting the rows among blocks as well needs a second stage and scratch memory, as in 208.
 */
#include "layers.h"
#include "not_implemented.h"

/* TODO: bias_forward_kernel: a thread owns a column, reads its bias once, and strides down the
   rows (about 8 lines). */

/* TODO: bias_backward_kernel: 32 x 32 threads; thread (x, y) sums every 32nd row of column x,
   then a tree over y in shared memory (about 13 lines). */

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
    /* TODO: a block per 32 columns, none without columns; no rows give zeros (about 3 lines).
     */
    NOT_IMPLEMENTED(grad_bias, grad_y, rows, cols, stream);
    return cudaGetLastError();
}
