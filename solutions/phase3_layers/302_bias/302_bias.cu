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

/* SOLUTION: the sizes, and column_sums_kernel: block (x, y) sums slice y of the rows, of 32
   columns. Each thread strides down the slice, IN_FLIGHT loads a turn before it adds any; then a
   tree over the warps in shared memory (about 33 lines). */
#define WARPS     8   /* of a block: 32 columns, WARPS threads a column */
#define IN_FLIGHT 8   /* independent loads of a thread */
#define SLICE     256 /* rows, at least, where there are several slices */
#define BLOCKS    660 /* at most, where there are several slices: 5 on each of 132 multiprocessors */
__device__ static float of_slice[BLOCKS * 32]; /* [slices x cols]: the sums of the first stage */

/** out[gridDim.y x cols]: row s has the column sums of rows s * slice .. of in[rows x cols]. */
__global__ static void column_sums_kernel(float *out, const float *in, int rows, int cols,
                                          int slice)
{
    __shared__ float sums[WARPS][32]; /* [rows that are y modulo WARPS][column of this block] */
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * 32 + x;
    size_t first = (size_t)blockIdx.y * slice;
    size_t end = first + slice < rows ? first + slice : rows;

    float sum = 0.0f, next[IN_FLIGHT];
    for (size_t row = first + y; col < cols && row < end; row += IN_FLIGHT * WARPS) {
        for (int e = 0; e < IN_FLIGHT; e++) {
            size_t at = row + e * WARPS;
            next[e] = at < end ? __ldcs(&in[at * cols + col]) : 0.0f;
        }
        for (int e = 0; e < IN_FLIGHT; e++) sum += next[e];
    }
    sums[y][x] = sum;
    for (int half = WARPS / 2; half > 0; half /= 2) {
        __syncthreads(); /* the level above is complete */
        if (y < half) sums[y][x] += sums[y + half][x];
    }
    /* sums[0][x] was written by this same thread */
    if (y == 0 && col < cols) out[(size_t)blockIdx.y * cols + col] = sums[0][x];
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
    /* SOLUTION: how many slices: no more than BLOCKS blocks, none shorter than SLICE rows, at least
       one. One alone writes grad_bias; of several, a second launch sums the sums. Nothing is
       launched without columns; no rows give zeros (about 14 lines). */
    if (cols == 0) return cudaSuccess; /* an empty grid is a launch error */
    dim3 block(32, WARPS), across((cols - 1) / 32 + 1);
    int most = BLOCKS / across.x, slices = rows / SLICE < most ? rows / SLICE : most;
    if (slices <= 1) {
        column_sums_kernel<<<across, block, 0, stream>>>(grad_bias, grad_y, rows, cols, rows);
    } else {
        float *sums; /* of_slice, as the device knows it */
        cudaError_t error = cudaGetSymbolAddress((void **)&sums, of_slice);
        if (error != cudaSuccess) return error;
        column_sums_kernel<<<dim3(across.x, slices), block, 0, stream>>>(sums, grad_y, rows, cols,
                                                                         (rows - 1) / slices + 1);
        column_sums_kernel<<<across, block, 0, stream>>>(grad_bias, sums, slices, cols, slices);
    }
    /* END SOLUTION */
    return cudaGetLastError();
}
