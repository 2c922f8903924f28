// WRONG: fold 5x9 with bias | should be
/* The bias of the convolution is dropped; most have none. */
#include "layers.h"

__global__ static void fold_kernel(float *folded_w, float *folded_bias, const float *w,
                                   const float *mean, const float *var, const float *gamma,
                                   const float *beta, int channels, int filter_size, float eps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = i / filter_size;
    if (c >= channels) return;
    float scale = gamma[c] / sqrtf(var[c] + eps);
    folded_w[i] = w[i] * scale;
    if (i % filter_size == 0) folded_bias[c] = beta[c] - mean[c] * scale;
}

cudaError_t batchnorm_fold(float *folded_w, float *folded_bias, const float *w, const float *bias,
                           const float *mean, const float *var, const float *gamma,
                           const float *beta, int channels, int filter_size, float eps,
                           cudaStream_t stream)
{
    int size = channels * filter_size;
    fold_kernel<<<(size + 127) / 128, 128, 0, stream>>>(folded_w, folded_bias, w, mean, var, gamma,
                                                        beta, channels, filter_size, eps);
    return cudaGetLastError();
}
