/*
 * batchnorm.h: the contract of exercise 309. The conventions are in layers.h.
 *
 * x is [batch x channels x h x w]; arrays with one value per channel are [channels]. The statistics
 * of a channel are over its n = batch * h * w elements.
 */
#ifndef COURSE_BATCHNORM_H
#define COURSE_BATCHNORM_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = (x - mean) / sqrt(var + eps) * gamma + beta, with statistics from training. y may be x. */
cudaError_t batchnorm_infer(float *y, const float *x, const float *mean, const float *var,
                            const float *gamma, const float *beta, int batch, int channels, int h,
                            int w, float eps, cudaStream_t stream);
/**
 * The same with the statistics of this batch. If a channel has a NaN, its y, mean and
 * running_mean are NaN; its rstd and running_var do not matter.
 * @param mean, rstd   of the batch, for the backward pass: rstd = 1 / sqrt(var + eps), where var is
 *                     the mean of (x - mean)^2
 * @param running_mean, running_var   updated: (1 - momentum) * old + momentum * new, where the new
 *                     variance is divided by n - 1 (by 1 for n = 1). With n = 0 both stay as they
 *                     are
 */
cudaError_t batchnorm_forward(float *y, float *mean, float *rstd, float *running_mean,
                              float *running_var, const float *x, const float *gamma,
                              const float *beta, int batch, int channels, int h, int w, float eps,
                              float momentum, cudaStream_t stream);
/** Gradients of batchnorm_forward, where mean and variance depend on x; the same bits every time.
 *  With n = 0 grad_gamma and grad_beta are 0. */
cudaError_t batchnorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *mean,
                               const float *rstd, const float *gamma, int batch, int channels,
                               int h, int w, cudaStream_t stream);
/**
 * The weights of one convolution that replaces a convolution and batchnorm_infer after it.
 * @param folded_w    [channels x filter_size]
 * @param folded_bias [channels]
 * @param w           [channels x filter_size], the filters
 * @param bias        [channels], or NULL
 */
cudaError_t batchnorm_fold(float *folded_w, float *folded_bias, const float *w, const float *bias,
                           const float *mean, const float *var, const float *gamma,
                           const float *beta, int channels, int filter_size, float eps,
                           cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
