// WRONG: central differences | central differences say
/* As if mean and variance did not depend on x. */
#include "layers.h"

__global__ static void grad_kernel(float *grad_x, float *grad_gamma, float *grad_beta,
                                   const float *grad_y, const float *x, const float *mean,
                                   const float *rstd, const float *gamma, int n, int channels,
                                   int pixels)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float sum = 0.0f, dot = 0.0f;
    for (int i = 0; i < n; i++) {
        size_t at = ((size_t)(i / pixels) * channels + c) * pixels + i % pixels;
        sum += grad_y[at];
        dot += grad_y[at] * (x[at] - mean[c]) * rstd[c];
        grad_x[at] = gamma[c] * rstd[c] * grad_y[at];
    }
    grad_gamma[c] = dot;
    grad_beta[c] = sum;
}

cudaError_t batchnorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *mean,
                               const float *rstd, const float *gamma, int batch, int channels,
                               int h, int w, cudaStream_t stream)
{
    grad_kernel<<<(channels + 31) / 32, 32, 0, stream>>>(grad_x, grad_gamma, grad_beta, grad_y, x,
                                                         mean, rstd, gamma, batch * h * w, channels,
                                                         h * w);
    return cudaGetLastError();
}
