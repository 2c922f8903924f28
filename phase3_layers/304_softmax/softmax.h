/*
 * softmax.h: the contract of exercise 304. The conventions are in layers.h.
 */
#ifndef COURSE_SOFTMAX_H
#define COURSE_SOFTMAX_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y[r] = softmax of row x[r]. An entry of -infinity has weight 0; a row of nothing else gives
 *  zeros. A NaN makes all of its row NaN. rows and cols are free: more than 65,535 rows, more than
 * 1,024 columns. */
cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream);
/** grad_x = y * (grad_y - sum over the row of grad_y * y). Takes the output y of the forward. */
cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
