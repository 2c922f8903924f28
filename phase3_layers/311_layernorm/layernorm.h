/*
 * layernorm.h: the contract of exercise 311. The conventions are in layers.h.
 *
 * x and y are [rows x cols]; gamma, beta and their gradients [cols]; mean and rstd [rows]. Sizes
 * are arbitrary, and so is the alignment of the arrays. Without columns nothing is written.
 */
#ifndef COURSE_LAYERNORM_H
#define COURSE_LAYERNORM_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * y = (x - mean) * rstd * gamma + beta, with the statistics of each row.
 * @param mean, rstd for the backward pass: rstd = 1 / sqrt(var + eps), where var is the mean of
 *                   (x - mean)^2 over the row. If a row has a NaN or an infinity, its mean and y
 *                   are not finite, and its rstd may be anything
 */
cudaError_t layernorm_forward(float *y, float *mean, float *rstd, const float *x,
                              const float *gamma, const float *beta, int rows, int cols, float eps,
                              cudaStream_t stream);
/**
 * Gradients of layernorm_forward, where mean and variance depend on x; the same bits every time.
 * @param grad_x     [rows x cols]
 * @param grad_gamma [cols] sum over the rows of grad_y * (x - mean) * rstd; 0 without rows
 * @param grad_beta  [cols] sum over the rows of grad_y; 0 without rows
 */
cudaError_t layernorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *gamma,
                               const float *mean, const float *rstd, int rows, int cols,
                               cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
