/*
 * cross_entropy.h: the contract of exercise 305. The conventions are in layers.h.
 */
#ifndef COURSE_CROSS_ENTROPY_H
#define COURSE_CROSS_ENTROPY_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The loss of every row and the gradient of the mean loss, in one function. A NaN in a row that is
 * not ignored makes the row's loss and its whole gradient NaN.
 * @param loss         [rows] -log softmax(logits)[label]; 0 where the label is ignore_index
 * @param grad_logits  [rows x classes] (softmax - onehot) / number of labels that are not
 *                     ignore_index; zeros in ignored rows
 * @param labels       [rows] each in 0 .. classes-1, or ignore_index
 */
cudaError_t softmax_cross_entropy(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, int rows, int classes, int ignore_index,
                                  cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
