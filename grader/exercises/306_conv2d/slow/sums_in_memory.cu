// SLOW: bytes moved, times fewer than with filters fastest | counted 2.51
// The sum lives in y: every weight of the filter reads it there and writes it back.
#include "layers.h"

typedef struct conv {
    int in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad;
} conv;

/** x [in_channels x in_h x in_w], w [in_channels x kernel_h x kernel_w]; adds to *sum */
__device__ static void add_window(volatile float *sum, const float *x, const float *w, conv c,
                                  int top, int left)
{
    for (int channel = 0; channel < c.in_channels; channel++) {
        for (int r = 0; r < c.kernel_h; r++) {
            int row = top + r;
            for (int s = 0; s < c.kernel_w; s++, w++) {
                int col = left + s;
                if (row < 0 || row >= c.in_h || col < 0 || col >= c.in_w) continue;
                *sum = *sum + *w * x[((size_t)channel * c.in_h + row) * c.in_w + col];
            }
        }
    }
}

__global__ static void conv2d_kernel(float *y, const float *x, const float *w, const float *bias,
                                     conv c, size_t outputs)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;

    int col = i % c.out_w, row = i / c.out_w % c.out_h;
    size_t plane = i / c.out_w / c.out_h;
    size_t filter = plane % c.out_channels, image = plane / c.out_channels;

    x += image * c.in_channels * c.in_h * c.in_w;
    w += filter * c.in_channels * c.kernel_h * c.kernel_w;
    y[i] = bias != NULL ? bias[filter] : 0.0f;
    add_window(&y[i], x, w, c, row * c.stride - c.pad, col * c.stride - c.pad);
}

cudaError_t conv2d_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_channels, int in_h, int in_w, int out_channels, int kernel_h,
                           int kernel_w, int stride, int pad, cudaStream_t stream)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    conv c = {in_channels, in_h, in_w, out_channels, out_h, out_w, kernel_h, kernel_w, stride, pad};
    size_t outputs = (size_t)batch * out_channels * out_h * out_w;
    if (outputs == 0) return cudaSuccess; /* an empty grid is a launch error */
    conv2d_kernel<<<(outputs + 255) / 256, 256, 0, stream>>>(y, x, w, bias, c, outputs);
    return cudaGetLastError();
}
