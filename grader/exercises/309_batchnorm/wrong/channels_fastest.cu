// WRONG: infer 2x3x5x7 | should be
/* The channel is taken to run fastest, as it does in NHWC. */
#include "layers.h"

__global__ static void infer_kernel(float *y, const float *x, const float *mean, const float *var,
                                    const float *gamma, const float *beta, int size, int channels,
                                    int pixels, float eps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int c = i % channels;
    y[i] = (x[i] - mean[c]) / sqrtf(var[c] + eps) * gamma[c] + beta[c];
}

cudaError_t batchnorm_infer(float *y, const float *x, const float *mean, const float *var,
                            const float *gamma, const float *beta, int batch, int channels, int h,
                            int w, float eps, cudaStream_t stream)
{
    int size = batch * channels * h * w;
    if (size == 0) return cudaSuccess;
    infer_kernel<<<(size + 127) / 128, 128, 0, stream>>>(y, x, mean, var, gamma, beta, size,
                                                         channels, h * w, eps);
    return cudaGetLastError();
}
