// SLOW: grad_w: atomics a block | counted
/* A thread per output adds to every weight of its filter, in double, so that the order hardly
 * shows. */
#include "layers.h"

__global__ static void atomic_kernel(double *grad_w, const float *grad_y, const float *x, int batch,
                                     int in_channels, int in_h, int in_w, int out_channels,
                                     int out_h, int out_w, int kernel_h, int kernel_w, int stride,
                                     int pad)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)batch * out_channels * out_h * out_w) return;
    int top = i / out_w % out_h * stride - pad, left = i % out_w * stride - pad;
    size_t plane = i / out_w / out_h;
    double *weights = grad_w + plane % out_channels * in_channels * kernel_h * kernel_w;
    x += plane / out_channels * in_channels * in_h * in_w;
    for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
        int row = top + f / kernel_w % kernel_h, col = left + f % kernel_w;
        if (row < 0 || row >= in_h || col < 0 || col >= in_w) continue;
        size_t channel = f / kernel_w / kernel_h;
        atomicAdd(&weights[f], (double)grad_y[i] * x[(channel * in_h + row) * in_w + col]);
    }
}
__global__ static void round_kernel(float *grad_w, const double *sums, size_t weights)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < weights) grad_w[i] = (float)sums[i];
}

struct conv {
    int batch, channels, h, w, filters, out_h, out_w, kernel_h, kernel_w, stride, pad;
};

#define EACH(i, n)                                                                                 \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

__global__ static void pixels_kernel(float *grad_x, const float *grad_y, const float *w, conv c)
{
    EACH(i, c.batch * c.channels * c.h * c.w)
    {
        int col = i % c.w + c.pad, row = i / c.w % c.h + c.pad,
            channel = i / c.w / c.h % c.channels;
        int image = i / c.w / c.h / c.channels;
        int last_j = min(row / c.stride, c.out_h - 1), last_k = min(col / c.stride, c.out_w - 1);
        double sum = 0.0;
        for (int j = last_j; j >= 0 && row - j * c.stride < c.kernel_h; j--) {
            for (int k = last_k; k >= 0 && col - k * c.stride < c.kernel_w; k--) {
                int tap = (row - j * c.stride) * c.kernel_w + col - k * c.stride;
                for (int f = 0; f < c.filters; f++) {
                    float g = grad_y[((size_t)(image * c.filters + f) * c.out_h + j) * c.out_w + k];
                    sum +=
                        (double)g * w[(f * c.channels + channel) * c.kernel_h * c.kernel_w + tap];
                }
            }
        }
        grad_x[i] = (float)sum;
    }
}

__global__ static void bias_kernel(float *grad_bias, const float *grad_y, conv c)
{
    EACH(f, c.filters)
    {
        double sum = 0.0;
        for (int b = 0; b < c.batch; b++) {
            const float *g = grad_y + (size_t)(b * c.filters + f) * c.out_h * c.out_w;
            for (int p = 0; p < c.out_h * c.out_w; p++) sum += g[p];
        }
        grad_bias[f] = (float)sum;
    }
}

cudaError_t conv2d_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_channels, int in_h,
                            int in_w, int out_channels, int kernel_h, int kernel_w, int stride,
                            int pad, cudaStream_t stream)
{
    conv c = {batch, in_channels, in_h, in_w, out_channels, 0, 0, kernel_h, kernel_w, stride, pad};
    c.out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    c.out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    if (grad_bias) bias_kernel<<<1, 64, 0, stream>>>(grad_bias, grad_y, c);
    size_t outputs = (size_t)batch * out_channels * c.out_h * c.out_w;
    size_t weights = (size_t)out_channels * in_channels * kernel_h * kernel_w;
    double *sums;
    if (grad_w && outputs > 0) {
        cudaError_t error = cudaMallocAsync((void **)&sums, weights * sizeof *sums, stream);
        if (error) return error;
        cudaMemsetAsync(sums, 0, weights * sizeof *sums, stream);
        atomic_kernel<<<(outputs + 255) / 256, 256, 0, stream>>>(
            sums, grad_y, x, batch, in_channels, in_h, in_w, out_channels, c.out_h, c.out_w,
            kernel_h, kernel_w, stride, pad);
        round_kernel<<<(weights + 255) / 256, 256, 0, stream>>>(grad_w, sums, weights);
        cudaFreeAsync(sums, stream);
    } else if (grad_w) {
        cudaMemsetAsync(grad_w, 0, weights * sizeof *grad_w, stream);
    }
    if (grad_x) pixels_kernel<<<1024, 128, 0, stream>>>(grad_x, grad_y, w, c);
    return cudaGetLastError();
}
