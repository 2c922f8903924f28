/*
 * 510_rows.cuh: layer normalization in bf16, forward and backward, and sums down the columns, which
 * are the gradients of biases and of gamma and beta.
 *
 * As in 311 a row belongs to a warp, and all sums are fp32. bf16 halves what moves, if loads stay
 * wide: a lane takes a chunk of 8 elements, 16 bytes. A row of 768 is read three times, but only
 * once from memory: it is 1.5 KB, and the next two times in the first cache.
 *
 * Backward the gradient is added to grad_x, which stands for what went past this branch, in the
 * same trip through memory: 508 had a kernel for that.
 *
 * Columns are summed in stretches of rows and then stretch by stretch, always in the same order.
 * The cost left: grad_y and x are read again for that.
 */
#ifndef ROWS_CUH
#define ROWS_CUH

#include "510_product.cuh"

/* TODO: eight, a chunk as floats; its load and store; warp_sum (about 30 lines). */

/* TODO: layernorm_kernel, a warp per row: mean, variance, y; lane 0 keeps the statistics (about
   35 lines). */

/* TODO: grad_x_kernel, a warp per row: two sums, then what is added to grad_x (about 35
   lines). */

/* TODO: columns_kernel: a block sums a stretch of rows in 64 columns, of grad_y and, where
   there is an x, of grad_y xhat; stretches_kernel adds the stretches (about 60 lines). */

/** cols is a multiple of 64 from here on. @param mean, rstd [rows] */
static inline cudaError_t layernorm(bf16 *y, float *mean, float *rstd, const bf16 *x,
                                    const float *gamma, const float *beta, int rows, int cols,
                                    float eps, cudaStream_t stream)
{
    /* TODO: a warp per row (about 2 lines). */
    NOT_IMPLEMENTED(y, mean, rstd, x, gamma, beta, rows, cols, eps, stream);
    return cudaGetLastError();
}

/** Column sums: grad_beta [cols] of grad_y, and grad_gamma [cols] of grad_y xhat, both overwritten;
 *  of a bias grad_gamma, x, mean and rstd are NULL. @param parts room for 128 cols floats */
static inline cudaError_t column_sums(float *grad_gamma, float *grad_beta, const bf16 *grad_y,
                                      const bf16 *x, const float *mean, const float *rstd, int rows,
                                      int cols, float *parts, cudaStream_t stream)
{
    /* TODO: as many stretches as there may be, and two launches (about 8 lines). */
    NOT_IMPLEMENTED(grad_gamma, grad_beta, grad_y, x, mean, rstd, rows, cols, parts, stream);
    return cudaGetLastError();
}

/** @param adds to what is in grad_x, which is overwritten otherwise */
static inline cudaError_t layernorm_back(bf16 *grad_x, float *grad_gamma, float *grad_beta,
                                         const bf16 *grad_y, const bf16 *x, const float *gamma,
                                         const float *mean, const float *rstd, int rows, int cols,
                                         bool adds, float *parts, cudaStream_t stream)
{
    /* TODO: the column sums, then a warp per row (about 4 lines). */
    NOT_IMPLEMENTED(grad_x, grad_gamma, grad_beta, grad_y, x, gamma, mean, rstd, rows, cols, adds,
                    parts, stream);
    return cudaGetLastError();
}

#endif
