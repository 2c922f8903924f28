/*
 * softmax_cross_entropy.h: the contract of exercise 109. The conventions are in cpu.h.
 */
#ifndef COURSE_SOFTMAX_CROSS_ENTROPY_H
#define COURSE_SOFTMAX_CROSS_ENTROPY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Softmax and cross-entropy in one function.
 * @param grad_logits [rows x classes] gradient of the mean loss: (softmax - onehot) / rows
 * @param logits      [rows x classes] any finite values, however large; a NaN makes its row of
 *                    grad_logits and the loss NaN
 * @param labels      [rows] each in 0 .. classes-1
 * @return the mean over rows of -log softmax(logits)[label]; 0 for no rows
 */
float softmax_cross_entropy_cpu(float *grad_logits, const float *logits, const int *labels,
                                int rows, int classes);

#ifdef __cplusplus
}
#endif

#endif
