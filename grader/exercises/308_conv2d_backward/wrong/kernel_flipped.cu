// WRONG: grad_x alone | should be
/* The gradient is a convolution with the turned kernel: here it is turned once too often. */
#include "layers.h"

__global__ static void grad_x_kernel(float *grad_x, const float *grad_y, const float *w, int inputs,
                                     int in_channels, int in_h, int in_w, int out_channels,
                                     int out_h, int out_w, int kernel_h, int kernel_w, int stride,
                                     int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= inputs) return;
    int col = i % in_w + pad, row = i / in_w % in_h + pad, channel = i / in_w / in_h % in_channels;
    int image = i / in_w / in_h / in_channels;
    float sum = 0.0f;
    for (int o = 0; o < out_channels; o++) {
        for (int tap = 0; tap < kernel_h * kernel_w; tap++) {
            int down = row - tap / kernel_w, right = col - tap % kernel_w;
            if (down < 0 || right < 0 || down % stride || right % stride) continue;
            int y = down / stride, x = right / stride;
            if (y >= out_h || x >= out_w) continue;
            float weight = w[(o * in_channels + channel) * kernel_h * kernel_w +
                             kernel_h * kernel_w - 1 - tap];
            sum += weight * grad_y[((image * out_channels + o) * out_h + y) * out_w + x];
        }
    }
    grad_x[i] = sum;
}

cudaError_t conv2d_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_channels, int in_h,
                            int in_w, int out_channels, int kernel_h, int kernel_w, int stride,
                            int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1,
        out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    int inputs = batch * in_channels * in_h * in_w;
    if (grad_x && inputs > 0) {
        grad_x_kernel<<<(inputs + 127) / 128, 128, 0, stream>>>(
            grad_x, grad_y, w, inputs, in_channels, in_h, in_w, out_channels, out_h, out_w,
            kernel_h, kernel_w, stride, pad);
    }
    return cudaGetLastError();
}
