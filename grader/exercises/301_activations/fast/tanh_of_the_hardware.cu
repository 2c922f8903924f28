// FAST: tanh forward | should be | softgpu
/* tanh.approx is one instruction instead of twenty. Three digits of it are all that PTX promises,
 * and all that softgpu gives; an H200 gave five. */
#include "layers.h"

__device__ static float quick_tanh(float x)
{
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ static float inner(float x)
{
    return 0.7978845608f * (x + 0.044715f * x * x * x);
}

enum kind { RELU, SIGMOID, TANH, GELU };

template <kind K> __device__ static float value(float x)
{
    if (K == RELU) return x > 0.0f || isnan(x) ? x : 0.0f;
    if (K == SIGMOID) return 0.5f + 0.5f * quick_tanh(0.5f * x);
    if (K == TANH) return quick_tanh(x);
    return 0.5f * x * (1.0f + quick_tanh(inner(x)));
}

template <kind K> __device__ static float slope(float x)
{
    if (K == RELU) return x > 0.0f;
    float t = quick_tanh(K == SIGMOID ? 0.5f * x : K == TANH ? x : inner(x));
    if (K == SIGMOID) return 0.25f * (1.0f - t * t);
    if (K == TANH) return 1.0f - t * t;
    return 0.5f * (1.0f + t) +
           0.5f * x * (1.0f - t * t) * 0.7978845608f * (1.0f + 0.134145f * x * x);
}

template <kind K>
__global__ static void kernel(float *out, const float *grad, const float *x, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = grad ? grad[i] * slope<K>(x[i]) : value<K>(x[i]);
}

template <kind K>
static cudaError_t run(float *out, const float *grad, const float *x, size_t n, cudaStream_t stream)
{
    if (n > 0) kernel<K><<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, grad, x, n);
    return cudaGetLastError();
}

#define ACTIVATION(name, kind)                                                                     \
    cudaError_t name##_forward(float *y, const float *x, size_t n, cudaStream_t stream)            \
    {                                                                                              \
        return run<kind>(y, NULL, x, n, stream);                                                   \
    }                                                                                              \
    cudaError_t name##_backward(float *grad_x, const float *grad_y, const float *x, size_t n,      \
                                cudaStream_t stream)                                               \
    {                                                                                              \
        return run<kind>(grad_x, grad_y, x, n, stream);                                            \
    }

ACTIVATION(relu, RELU)
ACTIVATION(sigmoid, SIGMOID)
ACTIVATION(tanh, TANH)
ACTIVATION(gelu, GELU)
