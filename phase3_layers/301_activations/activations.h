/*
 * activations.h: the contract of exercise 301. The conventions are in layers.h.
 *
 * Element by element over n floats. y may be x, and grad_x may be grad_y. Every backward function
 * takes the input x of its forward function. relu keeps NaN, and its derivative at 0 is 0. gelu is
 * the tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
 */
#ifndef COURSE_ACTIVATIONS_H
#define COURSE_ACTIVATIONS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t relu_forward(float *y, const float *x, size_t n, cudaStream_t stream);
cudaError_t relu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream);
cudaError_t sigmoid_forward(float *y, const float *x, size_t n, cudaStream_t stream);
cudaError_t sigmoid_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                             cudaStream_t stream);
cudaError_t tanh_forward(float *y, const float *x, size_t n, cudaStream_t stream);
cudaError_t tanh_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream);
cudaError_t gelu_forward(float *y, const float *x, size_t n, cudaStream_t stream);
cudaError_t gelu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
