// SLOW: bytes moved | counted 1.43
// A kernel for each formula: the gradient is read twice, and m and v are read again for the step.
#include "layers.h"
#include <math.h>

__global__ static void mean_kernel(float *m, const float *grad, size_t n, float beta1)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) m[i] = beta1 * m[i] + (1.0f - beta1) * grad[i];
}

__global__ static void square_kernel(float *v, const float *grad, size_t n, float beta2)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = beta2 * v[i] + (1.0f - beta2) * grad[i] * grad[i];
}

__global__ static void step_kernel(float *param, const float *m, const float *v, size_t n, float lr,
                                   float eps, float weight_decay, float correction1,
                                   float correction2)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = param[i], step = m[i] / correction1 / (sqrtf(v[i] / correction2) + eps);
    param[i] = p - lr * (step + weight_decay * p);
}

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    unsigned blocks = (unsigned)((n + 255) / 256);
    float correction1 = (float)(1.0 - pow((double)beta1, step));
    float correction2 = (float)(1.0 - pow((double)beta2, step));
    mean_kernel<<<blocks, 256, 0, stream>>>(m, grad, n, beta1);
    square_kernel<<<blocks, 256, 0, stream>>>(v, grad, n, beta2);
    step_kernel<<<blocks, 256, 0, stream>>>(param, m, v, n, lr, eps, weight_decay, correction1,
                                            correction2);
    return cudaGetLastError();
}
