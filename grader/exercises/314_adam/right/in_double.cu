// RIGHT: one thread a parameter, the corrections of the bias computed on the device, in double
#include "layers.h"

struct hyper {
    float lr, beta1, beta2, eps, weight_decay;
    int step;
};

__global__ static void adam_kernel(float *param, float *m, float *v, const float *grad, size_t n,
                                   hyper h)
{
    __shared__ float unbias[2]; /* 1 / (1 - beta^step), the same for the whole block */
    if (threadIdx.x < 2) {
        double beta = threadIdx.x == 0 ? h.beta1 : h.beta2;
        unbias[threadIdx.x] = (float)(1.0 / (1.0 - pow(beta, (double)h.step)));
    }
    __syncthreads();
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = grad[i], p = param[i];
    float mean = m[i] = h.beta1 * m[i] + (1.0f - h.beta1) * g;
    float square = v[i] = h.beta2 * v[i] + (1.0f - h.beta2) * g * g;
    float update = mean * unbias[0] / (sqrtf(square * unbias[1]) + h.eps);
    param[i] = p - h.lr * (update + h.weight_decay * p);
}

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    hyper h = {lr, beta1, beta2, eps, weight_decay, step};
    size_t blocks = (n + 1023) / 1024;
    if (n > 0) adam_kernel<<<blocks, 1024, 0, stream>>>(param, m, v, grad, n, h);
    return cudaGetLastError();
}
