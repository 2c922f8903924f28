/*
 * The frozen baselines of 306 and 307: convolution by its definition, one thread per output.
 *
 * 306's has the filters running fastest. The 32 lanes of a warp hold 32 filters at the same place:
 * they read 32 rows of w and write to 32 planes of y, each access to a line of its own. 307's has
 * the columns running fastest, as 306 wants it.
 */
#include <cuda_runtime.h>

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

__global__ static void filters_fastest_kernel(float *y, const float *x, const float *w,
                                              const float *bias, conv c, size_t outputs)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    int filter = i % c.out_channels;
    size_t place = i / c.out_channels;
    int col = place % c.out_w, row = place / c.out_w % c.out_h;
    size_t image = place / c.out_w / c.out_h;
    x += image * c.in_channels * c.in_h * c.in_w;
    w += (size_t)filter * c.in_channels * c.kernel_h * c.kernel_w;
    float sum = dot_window(x, w, c, row * c.stride - c.pad, col * c.stride - c.pad);
    y[((image * c.out_channels + filter) * c.out_h + row) * c.out_w + col] = sum + bias[filter];
}

extern "C" cudaError_t baseline_conv2d_filters_fastest(float *y, const float *x, const float *w,
                                                       const float *bias, int batch,
                                                       int in_channels, int in_h, int in_w,
                                                       int out_channels, int kernel_h, int kernel_w,
                                                       int stride, int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    conv c = {in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad};
    size_t outputs = (size_t)batch * out_channels * out_h * out_w;
    filters_fastest_kernel<<<(outputs + 255) / 256, 256, 0, stream>>>(y, x, w, bias, c, outputs);
    return cudaGetLastError();
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
    y[i] = bias[filter] + dot_window(x, w, c, row * c.stride - c.pad, col * c.stride - c.pad);
}

extern "C" cudaError_t baseline_conv2d_direct(float *y, const float *x, const float *w,
                                              const float *bias, int batch, int in_channels,
                                              int in_h, int in_w, int out_channels, int kernel_h,
                                              int kernel_w, int stride, int pad,
                                              cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    conv c = {in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad};
    size_t outputs = (size_t)batch * out_channels * out_h * out_w;
    direct_kernel<<<(outputs + 255) / 256, 256, 0, stream>>>(y, x, w, bias, c, outputs);
    return cudaGetLastError();
}
