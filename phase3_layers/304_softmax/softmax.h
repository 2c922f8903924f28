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

/** y[r] = softmax of row x[r]. An entry of -infinity has weight 0; a row of only -infinity gives
 *  zeros. A NaN makes its whole row NaN. There may be more than 65,535 rows and more than 1,024
 *  columns. */
cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream);
/** grad_x = y * (grad_y - sum over the row of grad_y * y), from the output y of softmax_forward. */
cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
