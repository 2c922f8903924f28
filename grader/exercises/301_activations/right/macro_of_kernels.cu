// RIGHT: a macro makes the eight kernels; sigmoid by way of tanh, a block's threads take two
// neighbouring stretches
#include "301_activations/activations.h"

__device__ static float half_tanh(float x)
{
    return 0.5f + 0.5f * tanhf(0.5f * x);
}

__device__ static float inner(float x)
{
    return 0.7978845608f * x * fmaf(0.044715f * x, x, 1.0f);
}

__device__ static float inner_slope(float x)
{
    return 0.7978845608f * fmaf(0.134145f * x, x, 1.0f);
}

__device__ static float gelu_slope(float x)
{
    float t = tanhf(inner(x));
    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner_slope(x);
}

/* f is computed of x, the slope of it too; SPAN threads a block, each two elements. */
#define SPAN 256
#define ACTIVATION(name, f, slope)                                                                 \
    __global__ static void name##_forward_kernel(float *y, const float *in, size_t n)              \
    {                                                                                              \
        size_t first = (size_t)blockIdx.x * 2 * SPAN + threadIdx.x;                                \
        for (size_t i = first; i < n && i <= first + SPAN; i += SPAN) {                            \
            float x = in[i];                                                                       \
            y[i] = f;                                                                              \
        }                                                                                          \
    }                                                                                              \
    __global__ static void name##_backward_kernel(float *grad_x, const float *grad_y,              \
                                                  const float *in, size_t n)                       \
    {                                                                                              \
        size_t first = (size_t)blockIdx.x * 2 * SPAN + threadIdx.x;                                \
        for (size_t i = first; i < n && i <= first + SPAN; i += SPAN) {                            \
            float x = in[i];                                                                       \
            grad_x[i] = grad_y[i] * (slope);                                                       \
        }                                                                                          \
    }                                                                                              \
    cudaError_t name##_forward(float *y, const float *x, size_t n, cudaStream_t stream)            \
    {                                                                                              \
        unsigned blocks = (unsigned)((n + 2 * SPAN - 1) / (2 * SPAN));                             \
        if (blocks) name##_forward_kernel<<<blocks, SPAN, 0, stream>>>(y, x, n);                   \
        return cudaGetLastError();                                                                 \
    }                                                                                              \
    cudaError_t name##_backward(float *grad_x, const float *grad_y, const float *x, size_t n,      \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        unsigned blocks = (unsigned)((n + 2 * SPAN - 1) / (2 * SPAN));                             \
        if (blocks) name##_backward_kernel<<<blocks, SPAN, 0, stream>>>(grad_x, grad_y, x, n);     \
        return cudaGetLastError();                                                                 \
    }

ACTIVATION(relu, x <= 0.0f ? 0.0f : x, x > 0.0f ? 1.0f : 0.0f)
ACTIVATION(sigmoid, half_tanh(x), half_tanh(x) * half_tanh(-x))
ACTIVATION(tanh, tanhf(x), 4.0f * half_tanh(2.0f * x) * half_tanh(-2.0f * x))
ACTIVATION(gelu, 0.5f * x * (1.0f + tanhf(inner(x))), gelu_slope(x))
