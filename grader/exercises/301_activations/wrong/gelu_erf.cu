// WRONG: gelu forward n=1000 | this is the gelu with erf
#include "layers.h"

#define GELU_INNER(x) (0.7978845608f * ((x) + 0.044715f * (x) * (x) * (x)))

#define ACTIVATION(name, value, gradient)                                                          \
    __global__ static void name##_forward_kernel(float *out, const float *in, size_t n)            \
    {                                                                                              \
        size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;                                         \
        if (i >= n) return;                                                                        \
        float x = in[i];                                                                           \
        out[i] = value;                                                                            \
    }                                                                                              \
    __global__ static void name##_backward_kernel(float *out, const float *grad_y,                 \
                                                  const float *in, size_t n)                       \
    {                                                                                              \
        size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;                                         \
        if (i >= n) return;                                                                        \
        float x = in[i], g = grad_y[i];                                                            \
        out[i] = gradient;                                                                         \
    }                                                                                              \
    cudaError_t name##_forward(float *y, const float *x, size_t n, cudaStream_t stream)            \
    {                                                                                              \
        if (n > 0) name##_forward_kernel<<<(n + 255) / 256, 256, 0, stream>>>(y, x, n);            \
        return cudaGetLastError();                                                                 \
    }                                                                                              \
    cudaError_t name##_backward(float *grad_x, const float *grad_y, const float *x, size_t n,      \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        if (n > 0)                                                                                 \
            name##_backward_kernel<<<(n + 255) / 256, 256, 0, stream>>>(grad_x, grad_y, x, n);     \
        return cudaGetLastError();                                                                 \
    }

ACTIVATION(relu, x<0.0f ? 0.0f : x, x> 0.0f ? g : 0.0f)
ACTIVATION(sigmoid, 1.0f / (1.0f + expf(-x)),
           g *(1.0f / (1.0f + expf(-x))) * (1.0f / (1.0f + expf(x))))
ACTIVATION(tanh, tanhf(x), g *(1.0f - tanhf(x) * tanhf(x)))
ACTIVATION(gelu, 0.5f * x * (1.0f + erff(x * 0.70710678f)),
           g *(0.5f * (1.0f + tanhf(GELU_INNER(x))) +
               0.5f * x * (1.0f - tanhf(GELU_INNER(x)) * tanhf(GELU_INNER(x))) * 0.7978845608f *
                   (1.0f + 0.134145f * x * x)))
