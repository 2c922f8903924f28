// WRONG: n=255 | all are wrong by one factor
/* The mean of squares grows with beta1: v is 100 times too large after one step. */
#include "layers.h"
#include <math.h>

__global__ static void adam_kernel(float *param, float *m, float *v, const float *grad, size_t n,
                                   float lr, float beta1, float beta2, float eps,
                                   float weight_decay, float correction1, float correction2)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = grad[i];
    m[i] = beta1 * m[i] + (1.0f - beta1) * g;
    v[i] = beta2 * v[i] + (1.0f - beta1) * g * g;
    float mean = m[i] / correction1, square = v[i] / correction2;
    param[i] -= lr * (mean / (sqrtf(square) + eps) + weight_decay * param[i]);
}

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    float correction1 = (float)(1.0 - pow((double)beta1, step));
    float correction2 = (float)(1.0 - pow((double)beta2, step));
    adam_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(
        param, m, v, grad, n, lr, beta1, beta2, eps, weight_decay, correction1, correction2);
    return cudaGetLastError();
}
