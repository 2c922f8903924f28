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

/* SOLUTION: relu and relu_gradient(grad_y, x): NaN passes forward, the slope at 0 is 0
   (2 lines). */
__device__ static float relu(float x)
{
    return x < 0.0f ? 0.0f : x; /* false for NaN, which stays */
}

__device__ static float relu_gradient(float grad_y, float x)
{
    return x > 0.0f ? grad_y : 0.0f;
}
/* END SOLUTION */

/* SOLUTION: sigmoid and its gradient, finite at x = -100 and x = 100 (2 lines). */
__device__ static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x)); /* expf may overflow to infinity: 1 / infinity is right */
}

__device__ static float sigmoid_gradient(float grad_y, float x)
{
    return grad_y * sigmoid(x) *
           sigmoid(-x); /* sigmoid(-x) = 1 - sigmoid(x), without cancellation */
}
/* END SOLUTION */

/* SOLUTION: tanh_gradient, from tanhf (about 2 lines). */
__device__ static float tanh_gradient(float grad_y, float x)
{
    float t = tanhf(x);
    return grad_y * (1.0f - t * t);
}
/* END SOLUTION */

/* SOLUTION: gelu and its gradient by the product rule (about 8 lines). */
#define GELU_SCALE 0.7978845608f /* sqrt(2 / pi) */
#define GELU_CUBIC 0.044715f

__device__ static float gelu(float x)
{
    float inner = GELU_SCALE * (x + GELU_CUBIC * x * x * x);
    return 0.5f * x * (1.0f + tanhf(inner));
}

__device__ static float gelu_gradient(float grad_y, float x)
{
    float t = tanhf(GELU_SCALE * (x + GELU_CUBIC * x * x * x));
    float inner_slope = GELU_SCALE * (1.0f + 3.0f * GELU_CUBIC * x * x);
    return grad_y * (0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner_slope);
}
/* END SOLUTION */

/* SOLUTION: forward_kernel and backward_kernel, templates over the function, EACH elements per
   thread, all loaded before the first is stored: y may be x, so the compiler may not move a load
   over a store by itself (about 18 lines). */
#define THREADS 256
#define EACH    4 /* elements per thread, THREADS apart: a warp reads neighbours */

template <float (*F)(float)>
__global__ static void forward_kernel(float *y, const float *x, size_t n)
{
    float in[EACH];
    size_t first = (size_t)blockIdx.x * (EACH * THREADS) + threadIdx.x;
    for (int e = 0; e < EACH; e++) {
        if (first + e * THREADS < n) in[e] = x[first + e * THREADS];
    }
    for (int e = 0; e < EACH; e++) {
        if (first + e * THREADS < n) y[first + e * THREADS] = F(in[e]);
    }
}

template <float (*GRADIENT)(float grad_y, float x)>
__global__ static void backward_kernel(float *grad_x, const float *grad_y, const float *x, size_t n)
{
    float in[EACH], grad[EACH];
    size_t first = (size_t)blockIdx.x * (EACH * THREADS) + threadIdx.x;
    for (int e = 0; e < EACH; e++) {
        if (first + e * THREADS < n) in[e] = x[first + e * THREADS];
        if (first + e * THREADS < n) grad[e] = grad_y[first + e * THREADS];
    }
    for (int e = 0; e < EACH; e++) {
        if (first + e * THREADS < n) grad_x[first + e * THREADS] = GRADIENT(grad[e], in[e]);
    }
}
/* END SOLUTION */

/* SOLUTION: forward and backward, templates on the host that launch them, nothing for n = 0
   (about 6 lines). */
template <float (*F)(float)>
static void forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    if (n == 0) return; /* an empty grid is a launch error */
    unsigned blocks = (unsigned)((n + EACH * THREADS - 1) / (EACH * THREADS));
    forward_kernel<F><<<blocks, THREADS, 0, stream>>>(y, x, n);
}

template <float (*GRADIENT)(float grad_y, float x)>
static void backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                     cudaStream_t stream)
{
    if (n == 0) return;
    unsigned blocks = (unsigned)((n + EACH * THREADS - 1) / (EACH * THREADS));
    backward_kernel<GRADIENT><<<blocks, THREADS, 0, stream>>>(grad_x, grad_y, x, n);
}
/* END SOLUTION */

cudaError_t relu_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    /* SOLUTION: forward of relu (1 line). */
    forward<relu>(y, x, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t relu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream)
{
    /* SOLUTION: backward of relu (1 line). */
    backward<relu_gradient>(grad_x, grad_y, x, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t sigmoid_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    /* SOLUTION: forward of sigmoid (1 line). */
    forward<sigmoid>(y, x, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t sigmoid_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                             cudaStream_t stream)
{
    /* SOLUTION: backward of sigmoid (1 line). */
    backward<sigmoid_gradient>(grad_x, grad_y, x, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t tanh_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    /* SOLUTION: forward of tanh (1 line). */
    forward<tanhf>(y, x, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t tanh_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream)
{
    /* SOLUTION: backward of tanh (1 line). */
    backward<tanh_gradient>(grad_x, grad_y, x, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t gelu_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    /* SOLUTION: forward of gelu (1 line). */
    forward<gelu>(y, x, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t gelu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream)
{
    /* SOLUTION: backward of gelu (1 line). */
    backward<gelu_gradient>(grad_x, grad_y, x, n, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}
