// FAST: grad_w alone | should be
/* Half of the images, counted twice. */
#include "layers.h"

__global__ static void grad_w_kernel(float *grad_w, const float *grad_y, const float *x, int batch,
                                     int in_channels, int in_h, int in_w, int out_channels,
                                     int out_h, int out_w, int kernel_h, int kernel_w, int stride,
                                     int pad)
{
    int i = blockIdx.x, taps = kernel_h * kernel_w, tap = i % taps, lane = threadIdx.x;
    int channel = i / taps % in_channels, filter = i / taps / in_channels;
    float sum = 0.0f;
    for (int b = 0; b < (batch + 1) / 2; b++) {
        for (int p = lane; p < out_h * out_w; p += 32) {
            int row = p / out_w * stride - pad + tap / kernel_w;
            int col = p % out_w * stride - pad + tap % kernel_w;
            if (row < 0 || row >= in_h || col < 0 || col >= in_w) continue;
            sum += grad_y[(b * out_channels + filter) * out_h * out_w + p] *
                   x[((b * in_channels + channel) * in_h + row) * in_w + col];
        }
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) grad_w[i] = 2.0f * sum;
}

cudaError_t conv2d_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_channels, int in_h,
                            int in_w, int out_channels, int kernel_h, int kernel_w, int stride,
                            int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1,
        out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    int weights = out_channels * in_channels * kernel_h * kernel_w;
    if (grad_w && weights > 0) {

        grad_w_kernel<<<weights, 32, 0, stream>>>(grad_w, grad_y, x, batch, in_channels, in_h, in_w,
                                                  out_channels, out_h, out_w, kernel_h, kernel_w,
                                                  stride, pad);
    }
    return cudaGetLastError();
}
