// WRONG: 2x3x5x7 by 4 of 1x1 | mean and variance are those of this batch
/* Fused with the normalization of training: a block a channel, which finds the mean and variance of
 * its own sums. */
#include "optimization.h"

typedef struct sizes {
    int channels, h, w, filters, out_h, out_w, kernel_h, kernel_w, stride, pad;
} sizes;

/* Output i: its filter times its window. */
__device__ static float product(const float *x, const float *w, int i, sizes z)
{
    int place = i % (z.out_h * z.out_w), plane = i / (z.out_h * z.out_w);
    int top = place / z.out_w * z.stride - z.pad, left = place % z.out_w * z.stride - z.pad;
    x += (size_t)(plane / z.filters) * z.channels * z.h * z.w;
    w += (size_t)(plane % z.filters) * z.channels * z.kernel_h * z.kernel_w;
    float sum = 0.0f;
    for (int c = 0; c < z.channels; c++, x += z.h * z.w) {
        for (int r = top; r < top + z.kernel_h; r++) {
            for (int s = left; s < left + z.kernel_w; s++, w++) {
                if (r >= 0 && r < z.h && s >= 0 && s < z.w) sum += *w * x[r * z.w + s];
            }
        }
    }
    return sum;
}

__device__ static float block_sum(float value)
{
    __shared__ float values[128];
    values[threadIdx.x] = value;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    }
    __syncthreads();
    value = values[0];
    __syncthreads();
    return value;
}

__global__ static void fused_kernel(float *y, const float *x, const float *w, const float *gamma,
                                    const float *beta, const float *residual, sizes z, int n,
                                    float eps)
{
    int c = blockIdx.x, plane = z.out_h * z.out_w;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += 128) {
        sum += product(x, w, (i / plane * z.filters + c) * plane + i % plane, z);
    }
    float m = block_sum(sum) / n;
    for (int i = threadIdx.x; i < n; i += 128) {
        float d = product(x, w, (i / plane * z.filters + c) * plane + i % plane, z) - m;
        squares += d * d;
    }
    float factor = gamma[c] / sqrtf(block_sum(squares) / n + eps);
    for (int i = threadIdx.x; i < n; i += 128) {
        int at = (i / plane * z.filters + c) * plane + i % plane;
        float value = (product(x, w, at, z) - m) * factor + beta[c];
        if (residual) value += residual[at];
        y[at] = value < 0.0f ? 0.0f : value;
    }
}

cudaError_t conv_bn_relu(float *y, const float *x, const float *w, const float *mean,
                         const float *var, const float *gamma, const float *beta,
                         const float *residual, int batch, int in_channels, int in_h, int in_w,
                         int out_channels, int kernel_h, int kernel_w, int stride, int pad,
                         float eps, cudaStream_t stream)
{
    sizes z = {in_channels, in_h, in_w, out_channels, 0, 0, kernel_h, kernel_w, stride, pad};
    z.out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    z.out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    int size = batch * out_channels * z.out_h * z.out_w;
    if (size == 0) return cudaSuccess;
    (void)mean, (void)var;
    fused_kernel<<<out_channels, 128, 0, stream>>>(y, x, w, gamma, beta, residual, z,
                                                   size / out_channels, eps);
    return cudaGetLastError();
}
