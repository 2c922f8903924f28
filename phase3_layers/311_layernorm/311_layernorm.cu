/*
 * 311_layernorm.cu: layer normalization of every row, and its gradients.
 *
 * The idea: what 309 does to a channel is done to a row, and no other row takes part: a batch of
 * one is as good as any. A row belongs to a warp. Its lanes walk along it together, neighbours
 * reading neighbours, and agree on a sum by shuffles: no shared memory, and none of the ten
 * barriers that a reduction of 304 has. The mean comes first, the variance from the differences to
 * it: the mean of squares minus the square of the mean is noise for a row around 10,000.
 *
 * Backward, with xhat = (x - mean) rstd and g = grad_y gamma, in each row
 *
 *     grad_x = rstd (g - mean of g - xhat mean of g xhat)
 *
 * and, down the columns, grad_beta = sum grad_y, grad_gamma = sum grad_y xhat. Columns are summed
 * as in 302, 32 of them a block, and in two stages: a layer has few columns and many rows, and few
 * blocks would have long sums. First each stretch of rows is summed, then the stretches. Every sum
 * is added in a fixed order, which atomicAdd could not promise. The sums of stretches need memory
 * for a moment: grad_x has it, and is written last.
 *
 * What it costs: the row is read three times forward, x and grad_y three times backward. A row of
 * 65,536 columns is a long way for one warp. 405 keeps the row on the chip.
 */
#include "311_layernorm/layernorm.h"
#include "not_implemented.h"

/* TODO: warp_sum: the sum of one value per lane, for every lane (about 8 lines). */

/* TODO: forward_kernel, a warp per row: mean, variance, y; lane 0 keeps the statistics (about
   19 lines). */

/* TODO: grad_x_kernel, a warp per row: two sums, then grad_x (about 20 lines). */

/* TODO: the column sums. block_column_sum: 32 x WARPS threads, thread (x, y) brings a part of
   the sum of column x, thread (x, 0) gets all of it; a kernel that sums stretches of rows of grad_y
   and grad_y xhat, and one that sums the stretches (about 48 lines). */

cudaError_t layernorm_forward(float *y, float *mean, float *rstd, const float *x,
                              const float *gamma, const float *beta, int rows, int cols, float eps,
                              cudaStream_t stream)
{
    /* TODO: a warp per row, WARPS rows a block (about 3 lines). */
    NOT_IMPLEMENTED(y, mean, rstd, x, gamma, beta, rows, cols, eps, stream);
    return cudaGetLastError();
}

cudaError_t layernorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *gamma,
                               const float *mean, const float *rstd, int rows, int cols,
                               cudaStream_t stream)
{
    /* TODO: few rows are one stretch, whose sums are the gradients; else the sums of the
       stretches go to grad_x, which is written last (about 17 lines). */
    NOT_IMPLEMENTED(grad_x, grad_gamma, grad_beta, grad_y, x, gamma, mean, rstd, rows, cols,
                    stream);
    return cudaGetLastError();
}
