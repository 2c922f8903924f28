/*
 * 301_activations.cu: relu, sigmoid, tanh and gelu, forward and backward.
 *
 * The idea: four pairs of small functions and two kernels that apply them to an array. Forward
 * computes y = f(x), backward grad_x = grad_y * f'(x), by the chain rule. The function is a
 * template argument, so that the compiler puts its body into the loop: nothing is called at run
 * time.
 *
 * The corner cases need care. Comparisons with NaN are false, so the way a condition is written
 * decides where NaN goes (fmaxf(0, NaN) is 0 and would hide a network that has gone wrong). A
 * formula that is right on paper may overflow on the way: exp(100) is infinity in fp32, and
 * infinity / infinity NaN.
 *
 * What it costs: 8 bytes of traffic per element forward, 12 backward, and next to that even a tanh
 * is free. A thread takes several elements, because one load per thread does not keep a fast memory
 * busy: only the number of bytes in flight counts. The only way to make an activation faster is to
 * write it in the kernel that produced x: fusion, exercise 404.
 */
#include "301_activations/activations.h"
#include "not_implemented.h"

/* TODO: relu and relu_gradient(grad_y, x): NaN passes forward, the slope at 0 is 0
   (2 lines). */

/* TODO: sigmoid and its gradient, finite at x = -100 and x = 100 (2 lines). */

/* TODO: tanh_gradient, from tanhf (about 2 lines). */

/* TODO: gelu and its gradient by the product rule (about 8 lines). */

/* TODO: forward_kernel and backward_kernel, templates over the function, EACH elements per
   thread, all loaded before the first is stored: y may be x, so the compiler may not move a load
   over a store by itself (about 18 lines). */

/* TODO: forward and backward, templates on the host that launch them, nothing for n = 0
   (about 6 lines). */

cudaError_t relu_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    /* TODO: forward of relu (1 line). */
    NOT_IMPLEMENTED(y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t relu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream)
{
    /* TODO: backward of relu (1 line). */
    NOT_IMPLEMENTED(grad_x, grad_y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t sigmoid_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    /* TODO: forward of sigmoid (1 line). */
    NOT_IMPLEMENTED(y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t sigmoid_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                             cudaStream_t stream)
{
    /* TODO: backward of sigmoid (1 line). */
    NOT_IMPLEMENTED(grad_x, grad_y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t tanh_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    /* TODO: forward of tanh (1 line). */
    NOT_IMPLEMENTED(y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t tanh_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream)
{
    /* TODO: backward of tanh (1 line). */
    NOT_IMPLEMENTED(grad_x, grad_y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t gelu_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    /* TODO: forward of gelu (1 line). */
    NOT_IMPLEMENTED(y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t gelu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream)
{
    /* TODO: backward of gelu (1 line). */
    NOT_IMPLEMENTED(grad_x, grad_y, x, n, stream);
    return cudaGetLastError();
}
