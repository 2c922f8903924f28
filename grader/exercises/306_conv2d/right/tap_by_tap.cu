// RIGHT: one launch for every element of the kernel, which adds its share to all outputs; a 3-D
// grid that strides over planes
#include "306_conv2d/conv2d.h"

typedef struct view {
    int channels, h, w, filters, taps, out_h, out_w, stride;
} view;

__global__ static void begin_kernel(float *y, const float *bias, int filters, int pixels,
                                    int planes)
{
    for (int plane = blockIdx.y; plane < planes; plane += gridDim.y) {
        int p = blockIdx.x * blockDim.x + threadIdx.x;
        if (p < pixels) y[(size_t)plane * pixels + p] = bias ? bias[plane % filters] : 0.0f;
    }
}

/* x moved by (down, right), times element `tap` of every filter. */
__global__ static void tap_kernel(float *y, const float *x, const float *w, view v, int tap,
                                  int down, int right, int planes)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    int row = i * v.stride + down, col = j * v.stride + right;
    bool inside = row >= 0 && row < v.h && col >= 0 && col < v.w;
    if (i >= v.out_h || j >= v.out_w || !inside) return;
    for (int plane = blockIdx.z; plane < planes; plane += gridDim.z) {
        const float *pixel = x + ((size_t)(plane / v.filters) * v.channels * v.h + row) * v.w + col;
        const float *weight = w + (size_t)(plane % v.filters) * v.channels * v.taps + tap;
        float sum = 0.0f;
        for (int c = 0; c < v.channels; c++, pixel += (size_t)v.h * v.w) {
            sum += *pixel * weight[c * v.taps];
        }
        y[((size_t)plane * v.out_h + i) * v.out_w + j] += sum;
    }
}

cudaError_t conv2d_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_channels, int in_h, int in_w, int out_channels, int kernel_h,
                           int kernel_w, int stride, int pad, cudaStream_t stream)
{
    view v = {in_channels, in_h, in_w, out_channels, kernel_h * kernel_w, 0, 0, stride};
    v.out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    v.out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    int planes = batch * out_channels, deep = planes < 1024 ? planes : 1024;
    if (planes == 0 || v.out_h < 1 || v.out_w < 1) return cudaSuccess;
    dim3 flat((v.out_h * v.out_w + 127) / 128, deep);
    begin_kernel<<<flat, 128, 0, stream>>>(y, bias, out_channels, v.out_h * v.out_w, planes);
    dim3 block(32, 4), grid((v.out_w + 31) / 32, (v.out_h + 3) / 4, deep);
    for (int tap = 0; tap < v.taps; tap++) {
        tap_kernel<<<grid, block, 0, stream>>>(y, x, w, v, tap, tap / kernel_w - pad,
                                               tap % kernel_w - pad, planes);
    }
    return cudaGetLastError();
}
