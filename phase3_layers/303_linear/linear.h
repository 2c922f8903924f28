/*
 * linear.h: the contract of exercise 303. The conventions are in layers.h.
 */
#ifndef COURSE_LINEAR_H
#define COURSE_LINEAR_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y[batch x out] = x[batch x in] * w[out x in]^T + bias[out]. bias may be NULL. */
cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream);
/**
 * Gradients of linear_forward, the same bits every time.
 * @param grad_x    [batch x in_features] = grad_y * w; NULL when not wanted
 * @param grad_w    [out_features x in_features] = grad_y^T * x; NULL when not wanted
 * @param grad_bias [out_features] = column sums of grad_y; NULL when not wanted
 */
cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
