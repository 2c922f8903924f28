// RIGHT: a warp for each channel and image finds its sums, shifted by the channel's first element;
// a thread a channel merges them; everything else is one element a thread
#include "309_batchnorm/batchnorm.h"

#define FULL 0xffffffffu

__device__ static float of_warp(float x)
{
    for (int d = 1; d < 32; d *= 2) x += __shfl_xor_sync(FULL, x, d);
    return x;
}

/* part [2 x planes]: of each plane the mean, and the squares of the distances to it. */
__global__ static void part_kernel(float *part, const float *x, int planes, int pixels)
{
    int plane = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (plane >= planes) return;
    const float *p = x + (size_t)plane * pixels;
    float sum = 0.0f, squares = 0.0f, shift = p[0];
    for (int i = lane; i < pixels; i += 32) sum += p[i] - shift;
    float mean = shift + of_warp(sum) / pixels;
    for (int i = lane; i < pixels; i += 32) squares += (p[i] - mean) * (p[i] - mean);
    squares = of_warp(squares);
    if (lane == 0) part[plane] = mean, part[planes + plane] = squares;
}

__global__ static void merge_kernel(float *mean, float *rstd, float *running_mean,
                                    float *running_var, const float *part, int batch, int channels,
                                    int pixels, float eps, float momentum)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    double sum = 0.0, squares = 0.0, n = (double)batch * pixels;
    for (int b = 0; b < batch; b++) sum += part[b * channels + c];
    double m = sum / batch;
    for (int b = 0; b < batch; b++) {
        double distance = part[b * channels + c] - m;
        squares += part[(batch + b) * channels + c] + pixels * distance * distance;
    }
    mean[c] = (float)m;
    rstd[c] = (float)(1.0 / sqrt(squares / n + eps));
    running_mean[c] = (float)(running_mean[c] + momentum * (m - running_mean[c]));
    running_var[c] =
        (float)(running_var[c] + momentum * (squares / fmax(n - 1.0, 1.0) - running_var[c]));
}

__global__ static void apply_kernel(float *y, const float *x, const float *mean, const float *rstd,
                                    const float *gamma, const float *beta, size_t size,
                                    int channels, int pixels)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int c = i / pixels % channels;
    y[i] = gamma[c] * ((x[i] - mean[c]) * rstd[c]) + beta[c];
}

cudaError_t batchnorm_forward(float *y, float *mean, float *rstd, float *running_mean,
                              float *running_var, const float *x, const float *gamma,
                              const float *beta, int batch, int channels, int h, int w, float eps,
                              float momentum, cudaStream_t stream)
{
    int planes = batch * channels, pixels = h * w;
    size_t size = (size_t)planes * pixels;
    float *part;
    if (size == 0) return cudaSuccess;
    cudaError_t error = cudaMallocAsync((void **)&part, 2 * planes * sizeof(float), stream);
    if (error) return error;
    part_kernel<<<(planes + 3) / 4, 128, 0, stream>>>(part, x, planes, pixels);
    merge_kernel<<<(channels + 31) / 32, 32, 0, stream>>>(
        mean, rstd, running_mean, running_var, part, batch, channels, pixels, eps, momentum);
    apply_kernel<<<(size + 255) / 256, 256, 0, stream>>>(y, x, mean, rstd, gamma, beta, size,
                                                         channels, pixels);
    cudaFreeAsync(part, stream);
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
    if (channels == 0) return cudaSuccess;
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
