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

/* SOLUTION: bias_forward_kernel: a thread owns a column, reads its bias once, and strides down the
   rows (about 8 lines). */
__global__ static void bias_forward_kernel(float *y, const float *x, const float *bias, int rows,
                                           int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;

    float b = bias[col];
    size_t first = blockIdx.y * blockDim.y + threadIdx.y;
    for (size_t row = first; row < rows; row += gridDim.y * blockDim.y) {
        y[row * cols + col] = x[row * cols + col] + b;
    }
}
/* END SOLUTION */

/* SOLUTION: bias_backward_kernel: 32 x 32 threads; thread (x, y) sums every 32nd row of column x,
   then a tree over y in shared memory (about 13 lines). */
#define SIDE 32 /* SIDE columns a block, SIDE threads a column */

__global__ static void bias_backward_kernel(float *grad_bias, const float *grad_y, int rows,
                                            int cols)
{
    __shared__ float sums[SIDE][SIDE]; /* [rows that are y modulo SIDE][column of this block] */
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * SIDE + x;

    float sum = 0.0f;
    if (col < cols) {
        for (size_t row = y; row < rows; row += SIDE) sum += grad_y[row * cols + col];
    }
    sums[y][x] = sum;
    for (int half = SIDE / 2; half > 0; half /= 2) {
        __syncthreads(); /* the level above is complete */
        if (y < half) sums[y][x] += sums[y + half][x];
    }
    if (y == 0 && col < cols) grad_bias[col] = sums[0][x]; /* written by this same thread */
}
/* END SOLUTION */

cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream)
{
    /* SOLUTION: blocks of 32 x 8 threads over columns x rows, at most 1,024 of them down the rows;
       launch unless y is empty (about 5 lines). */
    if (rows == 0 || cols == 0) return cudaSuccess; /* an empty grid is a launch error */
    dim3 block(32, 8);
    unsigned down = (rows - 1) / block.y + 1;
    dim3 grid((cols - 1) / block.x + 1, down < 1024 ? down : 1024); /* grid.y ends at 65,535 */
    bias_forward_kernel<<<grid, block, 0, stream>>>(y, x, bias, rows, cols);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream)
{
    /* SOLUTION: a block per 32 columns, none without columns; no rows give zeros (about 3 lines).
     */
    if (cols == 0) return cudaSuccess;
    dim3 block(SIDE, SIDE);
    bias_backward_kernel<<<(cols - 1) / SIDE + 1, block, 0, stream>>>(grad_bias, grad_y, rows,
                                                                      cols);
    /* END SOLUTION */
    return cudaGetLastError();
}
