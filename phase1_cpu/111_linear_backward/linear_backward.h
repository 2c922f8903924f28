/*
 * linear_backward.h: the contract of exercise 111. The conventions are in cpu.h.
 */
#ifndef COURSE_LINEAR_BACKWARD_H
#define COURSE_LINEAR_BACKWARD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Gradients of y[batch x out] = x[batch x in] * w[out x in]^T + bias[out].
 * @param grad_x    [batch x in_features] = grad_y * w
 * @param grad_w    [out_features x in_features] = grad_y^T * x, summed over the batch
 * @param grad_bias [out_features] = column sums of grad_y
 */
void linear_backward_cpu(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                         const float *x, const float *w, int batch, int in_features,
                         int out_features);

/**
 * Compare an analytic gradient with central differences.
 * @param loss    the function of theta[n] to differentiate; receives `context` unchanged
 * @param theta   [n] the point; restored before return
 * @param grad    [n] the gradient to check
 * @param samples how many coordinates to try (all of them when samples >= n)
 * @param seed    chooses the coordinates
 * @return the largest relative error |grad - numeric| / max(|grad|, |numeric|, floor). A right
 *         gradient of a smooth loss gives less than 1e-2, a wrong one more; NaN counts as wrong.
 */
double gradcheck(double (*loss)(const float *theta, void *context), void *context, float *theta,
                 const float *grad, size_t n, int samples, unsigned long long seed);

#ifdef __cplusplus
}
#endif

#endif
