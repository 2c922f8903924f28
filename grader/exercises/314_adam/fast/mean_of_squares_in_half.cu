// FAST: ten_steps | should be
/* Six bytes of state instead of eight: v is read and written as half, in the first half of its
 * array. */
#include "layers.h"
#include <cuda_fp16.h>
#include <math.h>

__global__ static void adam_kernel(float *param, float *m, __half *v, const float *grad, size_t n,
                                   float lr, float beta1, float beta2, float eps, float decay,
                                   float unbias1, float unbias2)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = grad[i], mean = beta1 * m[i] + (1.0f - beta1) * g;
    float square = beta2 * __half2float(v[i]) + (1.0f - beta2) * g * g;
    m[i] = mean;
    v[i] = __float2half(square);
    param[i] -= lr * (mean * unbias1 / (sqrtf(square * unbias2) + eps) + decay * param[i]);
}

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    float unbias1 = (float)(1.0 / (1.0 - pow((double)beta1, step)));
    float unbias2 = (float)(1.0 / (1.0 - pow((double)beta2, step)));
    if (n == 0) return cudaSuccess;
    adam_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(
        param, m, (__half *)v, grad, n, lr, beta1, beta2, eps, weight_decay, unbias1, unbias2);
    return cudaGetLastError();
}
