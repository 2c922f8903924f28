/*
 * 314_adam.cu: one step of AdamW, every parameter on its own.
 *
 * The idea: m and v are running means of the gradient and of its square, and the step is m /
 * sqrt(v), about lr for every parameter however large its gradient is. Both means start at 0 and
 * are too small at first, by the factors 1 - beta1^step and 1 - beta2^step: dividing by them makes
 * the first step exactly lr. The weight decay pulls at the parameter itself and stays out of m and
 * v (the W of AdamW); as a part of the gradient it would be divided by sqrt(v) like the rest.
 *
 * All of it is one kernel: parameter, m, v and gradient come in, three of them go out, 28 bytes in
 * all. Written as one kernel per formula, every intermediate array would travel through memory.
 *
 * What it costs: those 28 bytes, where plain gradient descent moves 12, and memory for m and v,
 * twice that of the parameters. The arithmetic is hidden behind the traffic: only a smaller m and v
 * would make it faster.
 */
#include "layers.h"
#include "not_implemented.h"
#include <math.h>

/* TODO: adam_kernel: a parameter per thread, guard the tail, the four formulas of the contract
   (about 9 lines). */

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    /* TODO: both corrections here, once and in double, for 1 - beta2^step is a difference of
       nearly equal numbers; launch unless n is 0 (about 5 lines). */
    NOT_IMPLEMENTED(param, m, v, grad, n, lr, beta1, beta2, eps, weight_decay, step, stream);
    return cudaGetLastError();
}
