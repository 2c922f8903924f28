// SLOW: relu_forward: bytes moved | counted 4.00
// Each thread takes four neighbours one by one, so that the lanes of a warp are 16 bytes apart.
#include "layers.h"

__device__ static float relu(float x)
{
    return x < 0.0f ? 0.0f : x;
}

__device__ static float relu_gradient(float grad_y, float x)
{
    return x > 0.0f ? grad_y : 0.0f;
}

__device__ static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

__device__ static float sigmoid_gradient(float grad_y, float x)
{
    return grad_y * sigmoid(x) * sigmoid(-x);
}

__device__ static float tanh_gradient(float grad_y, float x)
{
    float t = tanhf(x);
    return grad_y * (1.0f - t * t);
}

#define GELU_SCALE 0.7978845608f
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

#define THREADS 256
#define EACH    4

template <float (*F)(float)>
__global__ static void forward_kernel(float *y, const float *x, size_t n)
{
    float in[EACH];
    size_t first = ((size_t)blockIdx.x * THREADS + threadIdx.x) * EACH;
    for (int e = 0; e < EACH; e++) {
        if (first + e < n) in[e] = x[first + e];
    }
    for (int e = 0; e < EACH; e++) {
        if (first + e < n) y[first + e] = F(in[e]);
    }
}

template <float (*GRADIENT)(float grad_y, float x)>
__global__ static void backward_kernel(float *grad_x, const float *grad_y, const float *x, size_t n)
{
    float in[EACH], grad[EACH];
    size_t first = ((size_t)blockIdx.x * THREADS + threadIdx.x) * EACH;
    for (int e = 0; e < EACH; e++) {
        if (first + e < n) in[e] = x[first + e];
        if (first + e < n) grad[e] = grad_y[first + e];
    }
    for (int e = 0; e < EACH; e++) {
        if (first + e < n) grad_x[first + e] = GRADIENT(grad[e], in[e]);
    }
}

template <float (*F)(float)>
static void forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    if (n == 0) return;
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

cudaError_t relu_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    forward<relu>(y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t relu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream)
{
    backward<relu_gradient>(grad_x, grad_y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t sigmoid_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    forward<sigmoid>(y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t sigmoid_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                             cudaStream_t stream)
{
    backward<sigmoid_gradient>(grad_x, grad_y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t tanh_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    forward<tanhf>(y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t tanh_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream)
{
    backward<tanh_gradient>(grad_x, grad_y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t gelu_forward(float *y, const float *x, size_t n, cudaStream_t stream)
{
    forward<gelu>(y, x, n, stream);
    return cudaGetLastError();
}

cudaError_t gelu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream)
{
    backward<gelu_gradient>(grad_x, grad_y, x, n, stream);
    return cudaGetLastError();
}
