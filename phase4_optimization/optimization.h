/*
 * optimization.h: the contract of phase 4, the same mathematics, faster. Conventions as in
 * layers.h.
 */
#ifndef COURSE_OPTIMIZATION_H
#define COURSE_OPTIMIZATION_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 404_fusion.cu */

/**
 * Linear layer, bias and ReLU in one kernel: pre = x * w^T + bias; y = max(pre, 0).
 * @param y    [batch x out_features]
 * @param pre  [batch x out_features], what the backward pass needs; NULL when not wanted
 * @param x    [batch x in_features]
 * @param w    [out_features x in_features]
 * @param bias [out_features]
 */
cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
