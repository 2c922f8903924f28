// RIGHT: Welford's running mean and variance, merged by shuffles and in shared memory: x is read
// twice; inference and folding as one multiply-add
#include "309_batchnorm/batchnorm.h"

#define THREADS 256
#define FULL    0xffffffffu

typedef struct moments {
    float count, mean, squares; /* squares: of the distances to the mean */
} moments;

__device__ static moments merge(moments a, moments b)
{
    float count = a.count + b.count, distance = b.mean - a.mean;
    if (count == 0.0f) return a;
    float share = b.count / count;
    return moments{count, a.mean + distance * share,
                   a.squares + b.squares + distance * distance * a.count * share};
}

__device__ static moments shuffled(moments a, int distance)
{
    return moments{__shfl_xor_sync(FULL, a.count, distance),
                   __shfl_xor_sync(FULL, a.mean, distance),
                   __shfl_xor_sync(FULL, a.squares, distance)};
}

__device__ static moments of_block(moments a)
{
    __shared__ moments of_warp[THREADS / 32];
    for (int d = 16; d > 0; d /= 2) a = merge(a, shuffled(a, d));
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = a;
    __syncthreads();
    a = of_warp[0];
    for (int w = 1; w < THREADS / 32; w++) a = merge(a, of_warp[w]);
    return a;
}

__global__ static void forward_kernel(float *y, float *mean, float *rstd, float *running_mean,
                                      float *running_var, const float *x, const float *gamma,
                                      const float *beta, int batch, int channels, int pixels,
                                      float eps, float momentum)
{
    int c = blockIdx.x;
    moments all = {0.0f, 0.0f, 0.0f};
    for (int b = 0; b < batch; b++) {
        const float *plane = x + ((size_t)b * channels + c) * pixels;
        for (int i = threadIdx.x; i < pixels; i += THREADS) {
            float distance = plane[i] - all.mean;
            all.count += 1.0f;
            all.mean += distance / all.count;
            all.squares += distance * (plane[i] - all.mean);
        }
    }
    all = of_block(all);
    float r = rsqrtf(all.squares / all.count + eps), factor = r * gamma[c];
    for (int b = 0; b < batch; b++) {
        size_t start = ((size_t)b * channels + c) * pixels;
        for (int i = threadIdx.x; i < pixels; i += THREADS) {
            y[start + i] = (x[start + i] - all.mean) * factor + beta[c];
        }
    }
    if (threadIdx.x == 0) {
        mean[c] = all.mean;
        rstd[c] = r;
        running_mean[c] = (1.0f - momentum) * running_mean[c] + momentum * all.mean;
        running_var[c] = (1.0f - momentum) * running_var[c] +
                         momentum * all.squares / fmaxf(all.count - 1.0f, 1.0f);
    }
}

cudaError_t batchnorm_forward(float *y, float *mean, float *rstd, float *running_mean,
                              float *running_var, const float *x, const float *gamma,
                              const float *beta, int batch, int channels, int h, int w, float eps,
                              float momentum, cudaStream_t stream)
{
    if (batch * h * w == 0 || channels == 0) return cudaSuccess;
    forward_kernel<<<channels, THREADS, 0, stream>>>(y, mean, rstd, running_mean, running_var, x,
                                                     gamma, beta, batch, channels, h * w, eps,
                                                     momentum);
    return cudaGetLastError();
}

/* One pass over shares of a channel, atomics of double for the sums, a second for grad_x. */
__global__ static void sums_kernel(double *sums, const float *grad_y, const float *x,
                                   const float *mean, const float *rstd, int planes, int channels,
                                   int pixels)
{
    for (int plane = blockIdx.x; plane < planes; plane += gridDim.x) {
        int c = plane % channels;
        double sum = 0.0, dot = 0.0;
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            size_t at = (size_t)plane * pixels + i;
            sum += grad_y[at];
            dot += (double)grad_y[at] * ((x[at] - mean[c]) * rstd[c]);
        }
        for (int d = 16; d > 0; d /= 2) {
            sum += __shfl_down_sync(FULL, sum, d);
            dot += __shfl_down_sync(FULL, dot, d);
        }
        if (threadIdx.x != 0) continue;
        atomicAdd(&sums[2 * c], sum);
        atomicAdd(&sums[2 * c + 1], dot);
    }
}

__global__ static void grad_kernel(float *grad_x, float *grad_gamma, float *grad_beta,
                                   const double *sums, const float *grad_y, const float *x,
                                   const float *mean, const float *rstd, const float *gamma,
                                   int planes, int channels, int pixels)
{
    for (int plane = blockIdx.x; plane < planes; plane += gridDim.x) {
        int c = plane % channels;
        double n = (double)planes / channels * pixels;
        float sum = (float)(sums[2 * c] / n), dot = (float)(sums[2 * c + 1] / n);
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            size_t at = (size_t)plane * pixels + i;
            float xhat = (x[at] - mean[c]) * rstd[c];
            grad_x[at] = gamma[c] * rstd[c] * (grad_y[at] - sum - xhat * dot);
        }
        if (plane >= channels || threadIdx.x != 0) continue;
        grad_gamma[c] = (float)sums[2 * c + 1];
        grad_beta[c] = (float)sums[2 * c];
    }
}

cudaError_t batchnorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *mean,
                               const float *rstd, const float *gamma, int batch, int channels,
                               int h, int w, cudaStream_t stream)
{
    int planes = batch * channels, blocks = planes < 4096 ? planes : 4096;
    double *sums;
    cudaMemsetAsync(grad_gamma, 0, channels * sizeof *grad_gamma, stream);
    cudaMemsetAsync(grad_beta, 0, channels * sizeof *grad_beta, stream);
    if (planes * h * w == 0) return cudaGetLastError();
    cudaError_t error = cudaMallocAsync((void **)&sums, 2 * channels * sizeof(double), stream);
    if (error) return error;
    cudaMemsetAsync(sums, 0, 2 * channels * sizeof(double), stream);
    sums_kernel<<<blocks, 32, 0, stream>>>(sums, grad_y, x, mean, rstd, planes, channels, h * w);
    grad_kernel<<<blocks, 128, 0, stream>>>(grad_x, grad_gamma, grad_beta, sums, grad_y, x, mean,
                                            rstd, gamma, planes, channels, h * w);
    cudaFreeAsync(sums, stream);
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
    int row = filter_size + 1, i = blockIdx.x * blockDim.x + threadIdx.x, c = i / row;
    if (i >= size) return;
    float scale = gamma[c] * rsqrtf(var[c] + eps);
    if (i % row < filter_size)
        folded_w[i - c] = w[i - c] * scale;
    else
        folded_bias[c] = fmaf(bias ? bias[c] - mean[c] : -mean[c], scale, beta[c]);
}

cudaError_t batchnorm_fold(float *folded_w, float *folded_bias, const float *w, const float *bias,
                           const float *mean, const float *var, const float *gamma,
                           const float *beta, int channels, int filter_size, float eps,
                           cudaStream_t stream)
{
    int size = channels * (filter_size + 1); /* with the bias */
    if (size == 0) return cudaSuccess;
    fold_kernel<<<(size + 127) / 128, 128, 0, stream>>>(folded_w, folded_bias, w, bias, mean, var,
                                                        gamma, beta, size, filter_size, eps);
    return cudaGetLastError();
}
