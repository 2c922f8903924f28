// WRONG: forward, means of 10000 | should be
/* The mean of the squares minus the square of the mean: both 10^8, and the difference 1. */
#include "layers.h"

#define THREADS 256

__device__ static float block_sum(float x)
{
    __shared__ float values[THREADS];
    values[threadIdx.x] = x;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    }
    __syncthreads();
    x = values[0];
    __syncthreads();
    return x;
}

__global__ static void train_kernel(float *y, float *mean, float *rstd, float *running_mean,
                                    float *running_var, const float *x, const float *gamma,
                                    const float *beta, int n, int channels, int pixels, float eps,
                                    float momentum)
{
    int c = blockIdx.x;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        sum += x[((size_t)(i / pixels) * channels + c) * pixels + i % pixels];
    }
    float m = block_sum(sum) / n;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        float d = x[((size_t)(i / pixels) * channels + c) * pixels + i % pixels];
        squares += d * d;
    }
    float var = fmaxf(block_sum(squares) / n - m * m, 0.0f), r = rsqrtf(var + eps);
    for (int i = threadIdx.x; i < n; i += THREADS) {
        size_t at = ((size_t)(i / pixels) * channels + c) * pixels + i % pixels;
        y[at] = (x[at] - m) * r * gamma[c] + beta[c];
    }
    if (threadIdx.x) return;
    mean[c] = m;
    rstd[c] = r;
    running_mean[c] = (1 - momentum) * running_mean[c] + momentum * m;
    running_var[c] = (1 - momentum) * running_var[c] + momentum * var * n / (n > 1 ? n - 1 : 1);
}

cudaError_t batchnorm_forward(float *y, float *mean, float *rstd, float *running_mean,
                              float *running_var, const float *x, const float *gamma,
                              const float *beta, int batch, int channels, int h, int w, float eps,
                              float momentum, cudaStream_t stream)
{
    int n = batch * h * w;
    if (n == 0 || channels == 0) return cudaSuccess;
    train_kernel<<<channels, THREADS, 0, stream>>>(y, mean, rstd, running_mean, running_var, x,
                                                   gamma, beta, n, channels, h * w, eps, momentum);
    return cudaGetLastError();
}
