// RIGHT: a thread per gradient, also of a weight; a pixel looks for its windows from the last one
// back; sums in double
#include "308_conv2d_backward/conv2d_backward.h"

struct conv {
    int batch, channels, h, w, filters, out_h, out_w, kernel_h, kernel_w, stride, pad;
};

#define EACH(i, n)                                                                                 \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

__global__ static void weights_kernel(float *grad_w, const float *grad_y, const float *x, conv c)
{
    EACH(i, c.filters * c.channels * c.kernel_h * c.kernel_w)
    {
        int s = i % c.kernel_w, r = i / c.kernel_w % c.kernel_h;
        int channel = i / c.kernel_w / c.kernel_h % c.channels;
        int filter = i / c.kernel_w / c.kernel_h / c.channels;
        double sum = 0.0;
        for (int b = 0; b < c.batch; b++) {
            const float *g = grad_y + (size_t)(b * c.filters + filter) * c.out_h * c.out_w;
            const float *plane = x + (size_t)(b * c.channels + channel) * c.h * c.w;
            for (int j = 0; j < c.out_h; j++) {
                int row = j * c.stride - c.pad + r;
                if (row < 0 || row >= c.h) continue;
                for (int k = 0; k < c.out_w; k++) {
                    int col = k * c.stride - c.pad + s;
                    if (col >= 0 && col < c.w)
                        sum += (double)g[j * c.out_w + k] * plane[row * c.w + col];
                }
            }
        }
        grad_w[i] = (float)sum;
    }
}

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
    if (grad_w) weights_kernel<<<256, 128, 0, stream>>>(grad_w, grad_y, x, c);
    if (grad_x) pixels_kernel<<<1024, 128, 0, stream>>>(grad_x, grad_y, w, c);
    return cudaGetLastError();
}
