/*
 * adam.h: the contract of exercise 314. The conventions are in layers.h.
 */
#ifndef COURSE_ADAM_H
#define COURSE_ADAM_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One step of AdamW on n parameters; param, m and v are updated in place.
 * m = beta1 m + (1 - beta1) grad; v = beta2 v + (1 - beta2) grad^2;
 * param -= lr (m / (1 - beta1^step) / (sqrt(v / (1 - beta2^step)) + eps) + weight_decay * param).
 * @param m    what is not finite stays so, as a NaN or an infinity
 * @param step counts from 1
 */
cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream);
/**
 * One step of plain descent with momentum; param and velocity are updated in place.
 * velocity = momentum velocity + grad + weight_decay param; param -= lr velocity.
 */
cudaError_t sgd_momentum(float *param, float *velocity, const float *grad, size_t n, float lr,
                         float momentum, float weight_decay, cudaStream_t stream);
/**
 * Scale the gradient of a whole network to a norm that is not larger than max_norm.
 * A gradient whose norm is not finite stays as it is.
 * @param norm [1] the root of the sum of squares of grad as it was, the same bits every time; of
 *             nothing 0
 * @param grad [n] *= max_norm / norm where norm > max_norm
 */
cudaError_t global_norm_clip(float *norm, float *grad, size_t n, float max_norm,
                             cudaStream_t stream);

/** A piece of the parameters that has a decay of its own. */
typedef struct adam_group {
    size_t n;           /* parameters, 0 too */
    float weight_decay; /* of matrices; biases, gamma and beta have 0 */
} adam_group;

/**
 * As adam_update, on `count` groups that lie one behind the other in param, m, v and grad.
 * @param groups [count], on the host
 */
cudaError_t adam_update_groups(float *param, float *m, float *v, const float *grad,
                               const adam_group *groups, int count, float lr, float beta1,
                               float beta2, float eps, int step, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
