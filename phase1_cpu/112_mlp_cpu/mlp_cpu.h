/*
 * mlp_cpu.h: the contract of exercise 112. The conventions are in cpu.h.
 */
#ifndef COURSE_MLP_CPU_H
#define COURSE_MLP_CPU_H

#include "mlp_layout.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mlp_cpu mlp_cpu;

/** @param params [MLP_PARAMS], copied. @return a network at step 0; NULL when memory is short */
mlp_cpu *mlp_create_cpu(const float *params);
/**
 * One step of Adam (beta 0.9 and 0.999, epsilon 1e-8, no decay) on one batch.
 * @param x      [batch x MLP_INPUTS]
 * @param labels [batch]
 * @return the mean loss of the batch before the step
 */
float mlp_train_batch_cpu(mlp_cpu *net, const float *x, const int *labels, int batch, float lr);
/** @param logits [batch x MLP_CLASSES] */
void mlp_predict_cpu(const mlp_cpu *net, float *logits, const float *x, int batch);
/** @param params [MLP_PARAMS] receives a copy */
void mlp_get_params_cpu(const mlp_cpu *net, float *params);
/** NULL is allowed. */
void mlp_free_cpu(mlp_cpu *net);

#ifdef __cplusplus
}
#endif

#endif
