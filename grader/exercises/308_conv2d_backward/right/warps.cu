// RIGHT: a warp per weight and per filter, which walks over all outputs of the batch at once;
// grad_x tap by tap, one launch each, no two of which meet
#include "308_conv2d_backward/conv2d_backward.h"

#define FULL 0xffffffffu

typedef struct sizes {
    int batch, channels, h, w, filters, out_h, out_w, taps, kernel_w, stride, pad;
} sizes;

__device__ static float of_warp(float x)
{
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(FULL, x, d);
    return x;
}

/* The pixel that tap `tap` of output p sees in a plane of x, or 0. */
__device__ static float seen(const float *plane, int p, int tap, sizes z)
{
    int row = p / z.out_w * z.stride - z.pad + tap / z.kernel_w;
    int col = p % z.out_w * z.stride - z.pad + tap % z.kernel_w;
    bool inside = row >= 0 && row < z.h && col >= 0 && col < z.w;
    return inside ? plane[row * z.w + col] : 0.0f;
}

__global__ static void weight_kernel(float *grad_w, float *grad_bias, const float *grad_y,
                                     const float *x, sizes z)
{
    int i = blockIdx.x, lane = threadIdx.x, outputs = z.out_h * z.out_w;
    int channels = max(z.channels, 1); /* without any, of the bias alone */
    int channel = i / z.taps % channels, filter = i / z.taps / channels;
    float sum = 0.0f, plain = 0.0f;
    for (int k = lane; k < z.batch * outputs; k += 32) {
        int b = k / outputs, p = k % outputs;
        float g = grad_y[(size_t)(b * z.filters + filter) * outputs + p];
        const float *plane = x + (size_t)(b * z.channels + channel) * z.h * z.w;
        if (grad_w) sum = fmaf(g, seen(plane, p, i % z.taps, z), sum);
        plain += g;
    }
    sum = of_warp(sum);
    plain = of_warp(plain);
    if (lane != 0) return;
    if (grad_w) grad_w[i] = sum;
    if (grad_bias && i % (z.taps * channels) == 0) grad_bias[filter] = plain;
}

__global__ static void tap_kernel(float *grad_x, const float *grad_y, const float *w, int tap,
                                  sizes z)
{
    int outputs = z.out_h * z.out_w, image = blockIdx.x / z.channels,
        channel = blockIdx.x % z.channels;
    for (int p = threadIdx.x; p < outputs; p += blockDim.x) {
        int row = p / z.out_w * z.stride - z.pad + tap / z.kernel_w;
        int col = p % z.out_w * z.stride - z.pad + tap % z.kernel_w;
        if (row < 0 || row >= z.h || col < 0 || col >= z.w) continue;
        float sum = 0.0f;
        for (int f = 0; f < z.filters; f++) {
            sum += grad_y[(size_t)(image * z.filters + f) * outputs + p] *
                   w[(f * z.channels + channel) * z.taps + tap];
        }
        grad_x[((size_t)blockIdx.x * z.h + row) * z.w + col] += sum;
    }
}

cudaError_t conv2d_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_channels, int in_h,
                            int in_w, int out_channels, int kernel_h, int kernel_w, int stride,
                            int pad, cudaStream_t stream)
{
    sizes z = {batch, in_channels,         in_h,     in_w,   out_channels, 0,
               0,     kernel_h * kernel_w, kernel_w, stride, pad};
    z.out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    z.out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    int weights = out_channels * (in_channels > 0 ? in_channels : 1) * z.taps;
    if (in_channels == 0) grad_w = NULL;
    if ((grad_w || grad_bias) && weights > 0) {
        weight_kernel<<<weights, 32, 0, stream>>>(grad_w, grad_bias, grad_y, x, z);
    }
    if (grad_x && batch * in_channels > 0) {
        cudaMemsetAsync(grad_x, 0, (size_t)batch * in_channels * in_h * in_w * sizeof(float),
                        stream);
        for (int tap = 0; tap < z.taps; tap++) {
            tap_kernel<<<batch * in_channels, 128, 0, stream>>>(grad_x, grad_y, w, tap, z);
        }
    }
    return cudaGetLastError();
}
