/*
 * 309_batchnorm.cu: batch normalization: inference, training, gradients, and how to remove it.
 *
 * The idea: a channel is shifted and scaled until its elements have mean 0 and variance 1, and then
 * shifted and scaled again, by numbers that are learned. In NCHW a channel is not one stretch of
 * memory but `batch` of them, h * w elements each: channel = plane % channels.
 *
 * Inference uses the statistics of training: a block takes a plane, whose elements all have the
 * same factor and shift. A thread per element would spend its time on finding its channel. Training
 * has to find the statistics first: a block per channel, and two reductions (208). The mean comes
 * first, then the variance from the differences to it: the mean of squares minus the square of the
 * mean is shorter, but for a mean of 10,000 and a deviation of 1 it is noise.
 *
 * Mean and variance depend on every x, so in the backward pass every grad_x has a share from all.
 * With xhat = (x - mean) * rstd:
 *
 *     grad_beta = sum grad_y     grad_gamma = sum grad_y xhat
 *     grad_x = gamma rstd (grad_y - grad_beta / n - xhat grad_gamma / n)
 *
 * Folding: inference is linear in x, and so is the convolution before it. The two are one
 * convolution with other weights: w gamma rstd, and a bias. Then this layer costs nothing.
 *
 * What it costs: training reads x three times, and has no more blocks than channels: 64 of them on
 * a GPU with room for several times as many.
 */
#include "309_batchnorm/batchnorm.h"
#include "not_implemented.h"

/* SOLUTION: BLOCK, and block_sum: the sum of one value per thread, for every thread (about 15
 * lines).
 */
#define BLOCK 512

__device__ static float block_sum(float value)
{
    __shared__ float values[BLOCK];
    int t = threadIdx.x;
    values[t] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) values[t] += values[t + half];
        __syncthreads();
    }
    float sum = values[0];
    __syncthreads(); /* all threads have read it before the next sum writes */
    return sum;
}
/* END SOLUTION */

/* SOLUTION: element: where the i-th of the n elements of a channel lies (about 5 lines). */
__device__ static size_t element(size_t i, int channel, int channels, int pixels)
{
    return (i / pixels * channels + channel) * pixels + i % pixels;
}
/* END SOLUTION */

/* SOLUTION: infer_kernel: a block per plane; one factor and one shift for all of it (about 11
 * lines).
 */
__global__ static void infer_kernel(float *y, const float *x, const float *mean, const float *var,
                                    const float *gamma, const float *beta, int channels, int pixels,
                                    float eps)
{
    int c = blockIdx.x % channels;
    float m = mean[c], factor = gamma[c] / sqrtf(var[c] + eps), shift = beta[c];
    size_t start = (size_t)blockIdx.x * pixels;
    for (size_t i = start + threadIdx.x; i < start + pixels; i += blockDim.x) {
        y[i] = (x[i] - m) * factor + shift;
    }
}
/* END SOLUTION */

/* SOLUTION: forward_kernel, a block per channel: mean, variance, y; thread 0 keeps the statistics
   (about 25 lines). */
__global__ static void forward_kernel(float *y, float *mean, float *rstd, float *running_mean,
                                      float *running_var, const float *x, const float *gamma,
                                      const float *beta, size_t n, int channels, int pixels,
                                      float eps, float momentum)
{
    int c = blockIdx.x;
    float sum = 0.0f, squares = 0.0f;
    for (size_t i = threadIdx.x; i < n; i += BLOCK) sum += x[element(i, c, channels, pixels)];
    float m = block_sum(sum) / n;

    for (size_t i = threadIdx.x; i < n; i += BLOCK) {
        float distance = x[element(i, c, channels, pixels)] - m;
        squares += distance * distance;
    }
    squares = block_sum(squares);
    float r = 1.0f / sqrtf(squares / n + eps);

    for (size_t i = threadIdx.x; i < n; i += BLOCK) {
        size_t at = element(i, c, channels, pixels);
        y[at] = (x[at] - m) * (r * gamma[c]) + beta[c];
    }
    if (threadIdx.x != 0) return;
    mean[c] = m;
    rstd[c] = r;
    running_mean[c] += momentum * (m - running_mean[c]);
    running_var[c] += momentum * (squares / (n > 1 ? n - 1 : 1) - running_var[c]);
}
/* END SOLUTION */

/* SOLUTION: backward_kernel, a block per channel: two sums, then grad_x (about 22 lines). */
__global__ static void backward_kernel(float *grad_x, float *grad_gamma, float *grad_beta,
                                       const float *grad_y, const float *x, const float *mean,
                                       const float *rstd, const float *gamma, size_t n,
                                       int channels, int pixels)
{
    int c = blockIdx.x;
    float m = mean[c], r = rstd[c], sum = 0.0f, dot = 0.0f;
    for (size_t i = threadIdx.x; i < n; i += BLOCK) {
        size_t at = element(i, c, channels, pixels);
        sum += grad_y[at];
        dot += grad_y[at] * ((x[at] - m) * r);
    }
    sum = block_sum(sum);
    dot = block_sum(dot);

    for (size_t i = threadIdx.x; i < n; i += BLOCK) {
        size_t at = element(i, c, channels, pixels);
        float xhat = (x[at] - m) * r;
        grad_x[at] = gamma[c] * r * (grad_y[at] - sum / n - xhat * (dot / n));
    }
    if (threadIdx.x != 0) return;
    grad_gamma[c] = dot;
    grad_beta[c] = sum;
}
/* END SOLUTION */

/* SOLUTION: fold_kernel, a block per filter (about 11 lines). */
__global__ static void fold_kernel(float *folded_w, float *folded_bias, const float *w,
                                   const float *bias, const float *mean, const float *var,
                                   const float *gamma, const float *beta, int filter_size,
                                   float eps)
{
    int c = blockIdx.x;
    float scale = gamma[c] / sqrtf(var[c] + eps), before = bias != NULL ? bias[c] : 0.0f;
    for (size_t i = threadIdx.x; i < filter_size; i += blockDim.x) {
        folded_w[(size_t)c * filter_size + i] = w[(size_t)c * filter_size + i] * scale;
    }
    if (threadIdx.x == 0) folded_bias[c] = (before - mean[c]) * scale + beta[c];
}
/* END SOLUTION */

cudaError_t batchnorm_infer(float *y, const float *x, const float *mean, const float *var,
                            const float *gamma, const float *beta, int batch, int channels, int h,
                            int w, float eps, cudaStream_t stream)
{
    /* SOLUTION: a block per plane (about 4 lines). */
    int planes = batch * channels;
    if (planes == 0) return cudaSuccess; /* an empty grid is a launch error */
    infer_kernel<<<planes, 256, 0, stream>>>(y, x, mean, var, gamma, beta, channels, h * w, eps);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t batchnorm_forward(float *y, float *mean, float *rstd, float *running_mean,
                              float *running_var, const float *x, const float *gamma,
                              const float *beta, int batch, int channels, int h, int w, float eps,
                              float momentum, cudaStream_t stream)
{
    /* SOLUTION: a block per channel; an empty batch has no statistics (about 5 lines). */
    size_t n = (size_t)batch * h * w;
    if (n == 0 || channels == 0) return cudaSuccess;
    forward_kernel<<<channels, BLOCK, 0, stream>>>(y, mean, rstd, running_mean, running_var, x,
                                                   gamma, beta, n, channels, h * w, eps, momentum);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t batchnorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *mean,
                               const float *rstd, const float *gamma, int batch, int channels,
                               int h, int w, cudaStream_t stream)
{
    /* SOLUTION: a block per channel (about 4 lines). */
    size_t n = (size_t)batch * h * w;
    if (channels == 0) return cudaSuccess;
    backward_kernel<<<channels, BLOCK, 0, stream>>>(grad_x, grad_gamma, grad_beta, grad_y, x, mean,
                                                    rstd, gamma, n, channels, h * w);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t batchnorm_fold(float *folded_w, float *folded_bias, const float *w, const float *bias,
                           const float *mean, const float *var, const float *gamma,
                           const float *beta, int channels, int filter_size, float eps,
                           cudaStream_t stream)
{
    /* SOLUTION: a block per filter (about 3 lines). */
    if (channels == 0) return cudaSuccess;
    fold_kernel<<<channels, 128, 0, stream>>>(folded_w, folded_bias, w, bias, mean, var, gamma,
                                              beta, filter_size, eps);
    /* END SOLUTION */
    return cudaGetLastError();
}
