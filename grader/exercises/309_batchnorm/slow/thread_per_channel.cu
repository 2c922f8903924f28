// SLOW: batchnorm_forward: instructions a warp | counted
/* One thread a channel. */
#include "layers.h"

__device__ static float of_warp(float x)
{
    for (int d = 1; d < 32; d *= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}

__global__ static void channel_kernel(float *y, float *mean, float *rstd, float *running_mean,
                                      float *running_var, const float *x, const float *gamma,
                                      const float *beta, int batch, int channels, int pixels,
                                      float eps, float momentum)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, n = batch * pixels;
    if (c >= channels) return;
    size_t start = (size_t)c * pixels, next = (size_t)channels * pixels;
    float sum = 0.0f, squares = 0.0f;
    for (int b = 0; b < batch; b++) {
        for (int i = 0; i < pixels; i++) sum += x[start + b * next + i];
    }
    float m = sum / n;
    for (int b = 0; b < batch; b++) {
        for (int i = 0; i < pixels; i++) {
            float distance = x[start + b * next + i] - m;
            squares += distance * distance;
        }
    }
    float r = 1.0f / sqrtf(squares / n + eps);
    for (int b = 0; b < batch; b++) {
        for (int i = 0; i < pixels; i++) {
            size_t at = start + b * next + i;
            y[at] = (x[at] - m) * (r * gamma[c]) + beta[c];
        }
    }
    mean[c] = m;
    rstd[c] = r;
    running_mean[c] += momentum * (m - running_mean[c]);
    running_var[c] += momentum * (squares / (n > 1 ? n - 1 : 1) - running_var[c]);
}

cudaError_t batchnorm_forward(float *y, float *mean, float *rstd, float *running_mean,
                              float *running_var, const float *x, const float *gamma,
                              const float *beta, int batch, int channels, int h, int w, float eps,
                              float momentum, cudaStream_t stream)
{
    if (batch * h * w == 0 || channels == 0) return cudaSuccess;
    channel_kernel<<<(channels + 31) / 32, 32, 0, stream>>>(y, mean, rstd, running_mean,
                                                            running_var, x, gamma, beta, batch,
                                                            channels, h * w, eps, momentum);
    return cudaGetLastError();
}
__global__ static void grad_kernel(float *grad_x, float *grad_gamma, float *grad_beta,
                                   const float *grad_y, const float *x, const float *mean,
                                   const float *rstd, const float *gamma, int batch, int channels,
                                   int pixels)
{
    int c = blockIdx.x, lane = threadIdx.x;
    float sum = 0.0f, dot = 0.0f, n = (float)batch * pixels;
    for (int b = 0; b < batch; b++) {
        size_t start = ((size_t)b * channels + c) * pixels;
        for (int i = lane; i < pixels; i += 32) {
            sum += grad_y[start + i];
            dot += grad_y[start + i] * (x[start + i] - mean[c]);
        }
    }
    sum = of_warp(sum);
    dot = of_warp(dot) * rstd[c];
    for (int b = 0; b < batch; b++) {
        size_t start = ((size_t)b * channels + c) * pixels;
        for (int i = lane; i < pixels; i += 32) {
            float xhat = (x[start + i] - mean[c]) * rstd[c];
            grad_x[start + i] =
                (n * grad_y[start + i] - sum - xhat * dot) * (gamma[c] * rstd[c] / n);
        }
    }
    if (lane == 0) grad_gamma[c] = dot, grad_beta[c] = sum;
}

cudaError_t batchnorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *mean,
                               const float *rstd, const float *gamma, int batch, int channels,
                               int h, int w, cudaStream_t stream)
{
    if (batch * channels * h * w == 0) return cudaSuccess;
    grad_kernel<<<channels, 32, 0, stream>>>(grad_x, grad_gamma, grad_beta, grad_y, x, mean, rstd,
                                             gamma, batch, channels, h * w);
    return cudaGetLastError();
}

__global__ static void infer_kernel(float *y, const float *x, const float *mean, const float *var,
                                    const float *gamma, const float *beta, int planes, int channels,
                                    int pixels, float eps)
{
    for (int plane = blockIdx.x; plane < planes; plane += gridDim.x) {
        int c = plane % channels;
        float factor = gamma[c] * rsqrtf(var[c] + eps), shift = beta[c] - mean[c] * factor;
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            size_t at = (size_t)plane * pixels + i;
            y[at] = fmaf(x[at], factor, shift);
        }
    }
}

cudaError_t batchnorm_infer(float *y, const float *x, const float *mean, const float *var,
                            const float *gamma, const float *beta, int batch, int channels, int h,
                            int w, float eps, cudaStream_t stream)
{
    int planes = batch * channels, blocks = planes < 8192 ? planes : 8192;
    if (planes == 0) return cudaSuccess;
    infer_kernel<<<blocks, 128, 0, stream>>>(y, x, mean, var, gamma, beta, planes, channels, h * w,
                                             eps);
    return cudaGetLastError();
}

__global__ static void fold_kernel(float *folded_w, float *folded_bias, const float *w,
                                   const float *bias, const float *mean, const float *var,
                                   const float *gamma, const float *beta, int size, int filter_size,
                                   float eps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = i / filter_size;
    if (i >= size) return;
    float scale = gamma[c] * rsqrtf(var[c] + eps);
    folded_w[i] = w[i] * scale;
    if (i == c * filter_size)
        folded_bias[c] = fmaf(bias ? bias[c] - mean[c] : -mean[c], scale, beta[c]);
}

cudaError_t batchnorm_fold(float *folded_w, float *folded_bias, const float *w, const float *bias,
                           const float *mean, const float *var, const float *gamma,
                           const float *beta, int channels, int filter_size, float eps,
                           cudaStream_t stream)
{
    int size = channels * filter_size;
    if (size == 0) return cudaSuccess;
    fold_kernel<<<(size + 127) / 128, 128, 0, stream>>>(folded_w, folded_bias, w, bias, mean, var,
                                                        gamma, beta, size, filter_size, eps);
    return cudaGetLastError();
}
