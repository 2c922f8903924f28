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
 * @param m    values that are not finite stay so: NaN or an infinity
 * @param step counts from 1
 */
cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream);
/**
 * One step of gradient descent with momentum; param and velocity are updated in place.
 * velocity = momentum velocity + grad + weight_decay param; param -= lr velocity.
 */
cudaError_t sgd_momentum(float *param, float *velocity, const float *grad, size_t n, float lr,
                         float momentum, float weight_decay, cudaStream_t stream);
/**
 * Scale the gradient of a whole network to a norm of at most max_norm. A gradient whose norm is not
 * finite stays as it is.
 * @param norm [1] the root of the sum of squares of grad before scaling, the same bits every time;
 *             0 for n = 0
 * @param grad [n] *= max_norm / norm where norm > max_norm
 */
cudaError_t global_norm_clip(float *norm, float *grad, size_t n, float max_norm,
                             cudaStream_t stream);

/** A group of parameters with its own weight decay. */
typedef struct adam_group {
    size_t n;           /* parameters; may be 0 */
    float weight_decay; /* for matrices; 0 for biases, gamma and beta */
} adam_group;

/**
 * As adam_update, on `count` groups, one after the other in param, m, v and grad.
 * @param groups [count], on the host
 */
cudaError_t adam_update_groups(float *param, float *m, float *v, const float *grad,
                               const adam_group *groups, int count, float lr, float beta1,
                               float beta2, float eps, int step, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
