/*
 * 309_batchnorm.cu: batch normalization: inference, training, gradients, and how to remove it.
 *
 * The idea: a channel is shifted and scaled until its elements have mean 0 and variance 1, and then
 * shifted and scaled again, by numbers that are learned. In NCHW a channel is not one stretch of
 * memory but `batch` of them, h * w elements each: channel = plane % channels.
 *
 * Inference uses the statistics of training: a block takes a plane, whose elements all have the
 * same factor and shift. A thread per element would spend its time on finding its channel. Training
 * has to find the statistics first: a block per channel, and two reductions (208). The mean comes
 * first, then the variance from the differences to it: the mean of squares minus the square of the
 * mean is shorter, but for a mean of 10,000 and a deviation of 1 it is noise.
 *
 * Mean and variance depend on every x, so in the backward pass every grad_x has a share from all.
 * With xhat = (x - mean) * rstd:
 *
 *     grad_beta = sum grad_y     grad_gamma = sum grad_y xhat
 *     grad_x = gamma rstd (grad_y - grad_beta / n - xhat grad_gamma / n)
 *
 * Folding: inference is linear in x, and so is the convolution before it. The two are one
 * convolution with other weights: w gamma rstd, and a bias. Then this layer costs nothing.
 *
 * What it costs: training reads x three times, and has no more blocks than channels: 64 of them on
 * a GPU with room for several times as many.
 */
#include "309_batchnorm/batchnorm.h"
#include "not_implemented.h"

/* TODO: BLOCK, and block_sum: the sum of one value per thread, for every thread (about 15
 * lines).
 */

/* TODO: element: where the i-th of the n elements of a channel lies (about 5 lines). */

/* TODO: infer_kernel: a block per plane; one factor and one shift for all of it (about 11
 * lines).
 */

/* TODO: forward_kernel, a block per channel: mean, variance, y; thread 0 keeps the statistics
   (about 25 lines). */

/* TODO: backward_kernel, a block per channel: two sums, then grad_x (about 22 lines). */

/* TODO: fold_kernel, a block per filter (about 11 lines). */

cudaError_t batchnorm_infer(float *y, const float *x, const float *mean, const float *var,
                            const float *gamma, const float *beta, int batch, int channels, int h,
                            int w, float eps, cudaStream_t stream)
{
    /* TODO: a block per plane (about 4 lines). */
    NOT_IMPLEMENTED(y, x, mean, var, gamma, beta, batch, channels, h, w, eps, stream);
    return cudaGetLastError();
}

cudaError_t batchnorm_forward(float *y, float *mean, float *rstd, float *running_mean,
                              float *running_var, const float *x, const float *gamma,
                              const float *beta, int batch, int channels, int h, int w, float eps,
                              float momentum, cudaStream_t stream)
{
    /* TODO: a block per channel; an empty batch has no statistics (about 5 lines). */
    NOT_IMPLEMENTED(y, mean, rstd, running_mean, running_var, x, gamma, beta, batch, channels, h, w,
                    eps, momentum, stream);
    return cudaGetLastError();
}

cudaError_t batchnorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *mean,
                               const float *rstd, const float *gamma, int batch, int channels,
                               int h, int w, cudaStream_t stream)
{
    /* TODO: a block per channel (about 4 lines). */
    NOT_IMPLEMENTED(grad_x, grad_gamma, grad_beta, grad_y, x, mean, rstd, gamma, batch, channels, h,
                    w, stream);
    return cudaGetLastError();
}

cudaError_t batchnorm_fold(float *folded_w, float *folded_bias, const float *w, const float *bias,
                           const float *mean, const float *var, const float *gamma,
                           const float *beta, int channels, int filter_size, float eps,
                           cudaStream_t stream)
{
    /* TODO: a block per filter (about 3 lines). */
    NOT_IMPLEMENTED(folded_w, folded_bias, w, bias, mean, var, gamma, beta, channels, filter_size,
                    eps, stream);
    return cudaGetLastError();
}
