// WRONG: ones, 3x3, pad 1 | should be 8
/* The image goes on with its last pixels instead of zeros. */
#include "layers.h"

__global__ static void conv_kernel(float *y, const float *x, const float *w, const float *bias,
                                   int batch, int in_channels, int in_h, int in_w, int out_channels,
                                   int out_h, int out_w, int kernel_h, int kernel_w, int stride,
                                   int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * out_channels * out_h * out_w) return;
    int p = i % (out_h * out_w), o = i / (out_h * out_w) % out_channels;
    x += (size_t)(i / (out_h * out_w) / out_channels) * in_channels * in_h * in_w;
    w += (size_t)o * in_channels * kernel_h * kernel_w;
    float sum = bias ? bias[o] : 0.0f;
    for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
        int s = f % kernel_w, r = f / kernel_w % kernel_h, c = f / kernel_w / kernel_h;
        int row = p / out_w * stride - pad + r, col = p % out_w * stride - pad + s;
        row = min(max(row, 0), in_h - 1), col = min(max(col, 0), in_w - 1);
        sum += w[f] * x[(c * in_h + row) * in_w + col];
    }
    y[i] = sum;
}

cudaError_t conv2d_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_channels, int in_h, int in_w, int out_channels, int kernel_h,
                           int kernel_w, int stride, int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1,
        out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    int outputs = batch * out_channels * out_h * out_w;
    if (outputs > 0) {
        conv_kernel<<<(outputs + 127) / 128, 128, 0, stream>>>(
            y, x, w, bias, batch, in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h,
            kernel_w, stride, pad);
    }
    return cudaGetLastError();
}
