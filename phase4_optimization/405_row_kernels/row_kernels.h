/*
 * row_kernels.h: the contract of exercise 405. The conventions are in optimization.h.
 *
 * x and y are [rows x cols], gamma and beta [cols]. Sizes are arbitrary, and so is the alignment of
 * the arrays. Without rows or columns nothing is written.
 */
#ifndef COURSE_ROW_KERNELS_H
#define COURSE_ROW_KERNELS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y[r] = softmax of row x[r], as softmax_forward (304): an entry of -infinity has weight 0, a row
 *  of only -infinity gives zeros, and a NaN makes its whole row NaN. */
cudaError_t softmax_rows(float *y, const float *x, int rows, int cols, cudaStream_t stream);
/** y = (x - mean) / sqrt(var + eps) * gamma + beta, with mean and variance of each row, as
 *  layernorm_forward (311). */
cudaError_t layernorm_rows(float *y, const float *x, const float *gamma, const float *beta,
                           int rows, int cols, float eps, cudaStream_t stream);
/** y = x / sqrt(mean of x^2 + eps) * gamma, with the mean of each row. */
cudaError_t rmsnorm_rows(float *y, const float *x, const float *gamma, int rows, int cols,
                         float eps, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
