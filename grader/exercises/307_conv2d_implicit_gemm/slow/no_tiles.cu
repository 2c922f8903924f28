// SLOW: bytes moved, times fewer than a thread per output | counted
/* No tiles: a thread per output, as in 306. */
#include "layers.h"
typedef struct conv {
    int in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad;
} conv;

__device__ static float dot_window(const float *x, const float *w, conv c, int top, int left)
{
    float sum = 0.0f;
    for (int channel = 0; channel < c.in_channels; channel++) {
        for (int r = 0; r < c.kernel_h; r++) {
            for (int s = 0; s < c.kernel_w; s++, w++) {
                int row = top + r, col = left + s;
                if (row < 0 || row >= c.in_h || col < 0 || col >= c.in_w) continue;
                sum += *w * x[((size_t)channel * c.in_h + row) * c.in_w + col];
            }
        }
    }
    return sum;
}

__global__ static void direct_kernel(float *y, const float *x, const float *w, const float *bias,
                                     conv c, size_t outputs)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    int col = i % c.out_w, row = i / c.out_w % c.out_h;
    size_t plane = i / c.out_w / c.out_h;
    size_t filter = plane % c.out_channels, image = plane / c.out_channels;
    x += image * c.in_channels * c.in_h * c.in_w;
    w += filter * c.in_channels * c.kernel_h * c.kernel_w;
    y[i] = (bias ? bias[filter] : 0.0f) +
           dot_window(x, w, c, row * c.stride - c.pad, col * c.stride - c.pad);
}

cudaError_t conv2d_implicit_gemm(float *y, const float *x, const float *w, const float *bias,
                                 int batch, int in_channels, int in_h, int in_w, int out_channels,
                                 int kernel_h, int kernel_w, int stride, int pad,
                                 cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    conv c = {in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad};
    size_t outputs = (size_t)batch * out_channels * out_h * out_w;
    if (outputs == 0) return cudaSuccess;
    direct_kernel<<<(outputs + 255) / 256, 256, 0, stream>>>(y, x, w, bias, c, outputs);
    return cudaGetLastError();
}
