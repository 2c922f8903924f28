/*
 * 314_adam.cu: one step of AdamW, or of gradient descent with momentum, each parameter on its own;
 * and what a training run needs around a step: clipped gradients, and decay for some parameters
 * only.
 *
 * The idea: m and v are running means of the gradient and of its square, and the step is m /
 * sqrt(v), about lr for every parameter however large its gradient is. Both means start at 0 and
 * are too small at first, by the factors 1 - beta1^step and 1 - beta2^step: dividing by them makes
 * the first step exactly lr. The weight decay acts on the parameter itself and stays out of m and v
 * (the W of AdamW); as a part of the gradient it would be divided by sqrt(v) like the rest.
 *
 * All of it is one kernel: parameter, m, v and gradient come in, three of them go out, 28 bytes in
 * all. Written as one kernel per formula, every intermediate array would travel through memory.
 *
 * What it costs: those 28 bytes, where plain gradient descent moves 12, and memory for m and v,
 * twice that of the parameters. The arithmetic is hidden behind the traffic: only a smaller m and v
 * would make it faster.
 *
 * A network has a hundred arrays of parameters, some of them tiny, and not all decay: weight decay
 * is for matrices, and leaves biases and the gamma and beta of norms alone. A launch for each array
 * would cost more than the small ones are worth. So the arrays lie one behind the other, a single
 * kernel steps all of them, and a thread finds the group of its parameter by bisection. The kernel
 * gets the groups by value: the host's array may be gone when it runs.
 *
 * Clipping needs the norm of all gradients before it may change one. Each block sums the squares of
 * its elements; a second kernel adds the sums of the blocks, always in the same order; a third
 * scales, if anything has to be scaled. Squares are summed in double: in fp32 the square of 1e20 is
 * infinite, that of 1e-23 is 0.
 */
#include "314_adam/adam.h"
#include "not_implemented.h"
#include <math.h>

/* TODO: group_table: what a launch is told of the groups; decay_of: the decay of parameter i,
   by bisection (about 20 lines). */

/* TODO: adam_kernel: a parameter per thread, guard the tail, the four formulas of the contract
   (about 15 lines). */

/* TODO: step_groups, for both functions that step by Adam. Compute both corrections here, once
   and in double, because 1 - beta2^step is a difference of nearly equal numbers; a launch for every
   GROUPS groups, unless they are empty (about 20 lines). */

/* TODO: momentum_kernel: a parameter per thread, both formulas of the contract (about 10
 * lines).
 */

/* TODO: block_sum: the sum of one double per thread, for thread 0; squares_kernel: each block's
   sum of squares, in of_block; norm_kernel, one block: the root of their sum; scale_kernel, which
   writes only where the norm is finite and too large (about 43 lines). */

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    /* TODO: a step of a single group (about 2 lines). */
    NOT_IMPLEMENTED(param, m, v, grad, n, lr, beta1, beta2, eps, weight_decay, step, stream);
    return cudaGetLastError();
}

cudaError_t sgd_momentum(float *param, float *velocity, const float *grad, size_t n, float lr,
                         float momentum, float weight_decay, cudaStream_t stream)
{
    /* TODO: launch unless n is 0 (about 3 lines). */
    NOT_IMPLEMENTED(param, velocity, grad, n, lr, momentum, weight_decay, stream);
    return cudaGetLastError();
}

cudaError_t global_norm_clip(float *norm, float *grad, size_t n, float max_norm,
                             cudaStream_t stream)
{
    /* TODO: three kernels; how many blocks sum depends on n alone. The norm of nothing is 0
       (about 5 lines). */
    NOT_IMPLEMENTED(norm, grad, n, max_norm, stream);
    return cudaGetLastError();
}

cudaError_t adam_update_groups(float *param, float *m, float *v, const float *grad,
                               const adam_group *groups, int count, float lr, float beta1,
                               float beta2, float eps, int step, cudaStream_t stream)
{
    /* TODO: a step of these groups (1 line). */
    NOT_IMPLEMENTED(param, m, v, grad, groups, count, lr, beta1, beta2, eps, step, stream);
    return cudaGetLastError();
}
