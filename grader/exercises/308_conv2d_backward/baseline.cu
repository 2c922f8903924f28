/*
 * The frozen baseline of 308: the gradient of the weights with atomics. A thread per output goes
 * through its window and adds the product with every pixel to the weight that met it there, where
 * all outputs of the filter want to add as well.
 */
#include <cuda_runtime.h>

__global__ static void atomic_kernel(float *grad_w, const float *grad_y, const float *x, int batch,
                                     int in_channels, int in_h, int in_w, int out_channels,
                                     int out_h, int out_w, int kernel_h, int kernel_w, int stride,
                                     int pad)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)batch * out_channels * out_h * out_w) return;
    int top = i / out_w % out_h * stride - pad, left = i % out_w * stride - pad;
    size_t plane = i / out_w / out_h;
    float *weights = grad_w + plane % out_channels * in_channels * kernel_h * kernel_w;
    x += plane / out_channels * in_channels * in_h * in_w;
    for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
        int row = top + f / kernel_w % kernel_h, col = left + f % kernel_w;
        if (row < 0 || row >= in_h || col < 0 || col >= in_w) continue;
        size_t channel = f / kernel_w / kernel_h;
        atomicAdd(&weights[f], grad_y[i] * x[(channel * in_h + row) * in_w + col]);
    }
}

extern "C" cudaError_t baseline_conv2d_backward_atomics(
    float *grad_x, float *grad_w, float *grad_bias, const float *grad_y, const float *x,
    const float *w, int batch, int in_channels, int in_h, int in_w, int out_channels, int kernel_h,
    int kernel_w, int stride, int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    size_t outputs = (size_t)batch * out_channels * out_h * out_w;
    size_t weights = (size_t)out_channels * in_channels * kernel_h * kernel_w;
    (void)grad_x, (void)grad_bias, (void)w;
    cudaMemsetAsync(grad_w, 0, weights * sizeof(float), stream);
    atomic_kernel<<<(outputs + 255) / 256, 256, 0, stream>>>(grad_w, grad_y, x, batch, in_channels,
                                                             in_h, in_w, out_channels, out_h, out_w,
                                                             kernel_h, kernel_w, stride, pad);
    return cudaGetLastError();
}
