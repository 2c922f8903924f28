/*
 * fusion.h: the contract of exercise 404. The conventions are in optimization.h.
 */
#ifndef COURSE_FUSION_H
#define COURSE_FUSION_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Linear layer, bias and ReLU in one kernel: pre = x * w^T + bias; y = max(pre, 0); NaN stays NaN.
 * @param y    [batch x out_features]
 * @param pre  [batch x out_features], for the backward pass; NULL when not wanted
 * @param x    [batch x in_features]
 * @param w    [out_features x in_features]
 * @param bias [out_features]
 */
cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream);

/**
 * Convolution, batch normalization with statistics from training, residual and ReLU in one kernel,
 * which writes only y:
 * y = max((conv - mean) / sqrt(var + eps) * gamma + beta + residual, 0); NaN stays NaN.
 * out_h = (in_h + 2 pad - kernel_h) / stride + 1, rounded down, and out_w likewise;
 * batch * out_h * out_w is below 2^31.
 * @param y        [batch x out_channels x out_h x out_w]
 * @param x        [batch x in_channels x in_h x in_w]
 * @param w        [out_channels x in_channels x kernel_h x kernel_w]
 * @param mean, var, gamma, beta   [out_channels]
 * @param residual as y, and may be y; NULL: nothing is added
 */
cudaError_t conv_bn_relu(float *y, const float *x, const float *w, const float *mean,
                         const float *var, const float *gamma, const float *beta,
                         const float *residual, int batch, int in_channels, int in_h, int in_w,
                         int out_channels, int kernel_h, int kernel_w, int stride, int pad,
                         float eps, cudaStream_t stream);

/**
 * Residual and layer normalization in one kernel, as between two layers of a transformer:
 * sum = x + residual; y = (sum - mean) * rstd * gamma + beta, with mean and rstd =
 * 1 / sqrt(var + eps) of each row of sum, as layernorm_forward (311). Without rows or columns
 * nothing is written. No two arrays overlap.
 * @param y           [rows x cols]
 * @param sum         [rows x cols], the next residual; NULL when not wanted
 * @param mean, rstd  [rows]
 * @param x, residual [rows x cols]
 * @param gamma, beta [cols]
 */
cudaError_t residual_layernorm_forward(float *y, float *sum, float *mean, float *rstd,
                                       const float *x, const float *residual, const float *gamma,
                                       const float *beta, int rows, int cols, float eps,
                                       cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
