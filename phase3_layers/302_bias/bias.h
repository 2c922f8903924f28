/*
 * bias.h: the contract of exercise 302. The conventions are in layers.h.
 */
#ifndef COURSE_BIAS_H
#define COURSE_BIAS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y[rows x cols] = x[rows x cols] + bias[cols]. y may be x. */
cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream);
/** grad_bias[cols] = column sums of grad_y[rows x cols]; the same bits every time. */
cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
