// RIGHT: one walk over all (channel, row, column of the kernel, output) that hands each pair of
// places to a function; the product is one row of y at a time
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "110_conv2d_cpu/conv2d_cpu.h"
#include <string.h>

typedef void visitor(float *window, float *image); /* image: NULL outside of it */

static void gather(float *window, float *image)
{
    *window = image ? *image : 0.0f;
}

static void scatter(float *window, float *image)
{
    if (image) *image += *window;
}

static void walk(visitor *visit, float *columns, float *x, int channels, int h, int w, int kernel_h,
                 int kernel_w, int stride, int pad)
{
    for (int c = 0; c < channels; c++, x += h * w) {
        for (int r = -pad; r < kernel_h - pad; r++) {
            for (int s = -pad; s < kernel_w - pad; s++) {
                for (int top = r; top - r + kernel_h <= h + 2 * pad; top += stride) {
                    for (int left = s; left - s + kernel_w <= w + 2 * pad; left += stride) {
                        int inside = top >= 0 && top < h && left >= 0 && left < w;
                        visit(columns++, inside ? x + top * w + left : NULL);
                    }
                }
            }
        }
    }
}

void im2col_cpu(float *columns, const float *x, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    walk(gather, columns, (float *)x, in_channels, in_h, in_w, kernel_h, kernel_w, stride, pad);
}

void col2im_cpu(float *x, const float *columns, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    memset(x, 0, (size_t)in_channels * in_h * in_w * sizeof *x);
    walk(scatter, (float *)columns, x, in_channels, in_h, in_w, kernel_h, kernel_w, stride, pad);
}

void conv2d_cpu_im2col(float *y, float *columns, const float *x, const float *w, const float *bias,
                       int batch, int in_channels, int in_h, int in_w, int out_channels,
                       int kernel_h, int kernel_w, int stride, int pad)
{
    int pixels =
        ((in_h + 2 * pad - kernel_h) / stride + 1) * ((in_w + 2 * pad - kernel_w) / stride + 1);
    int taps = in_channels * kernel_h * kernel_w;
    for (int b = 0; b < batch; b++, x += in_channels * in_h * in_w) {
        im2col_cpu(columns, x, in_channels, in_h, in_w, kernel_h, kernel_w, stride, pad);
        for (int o = 0; o < out_channels; o++, y += pixels) {
            matmul_cpu_vectorized(y, w + (size_t)o * taps, columns, 1, pixels, taps);
            for (int p = 0; p < pixels && bias; p++) y[p] = y[p] + bias[o];
        }
    }
}

/* By its definition, from the pixel's point of view: it is part of these outputs. */
void conv2d_cpu(float *y, const float *x, const float *w, const float *bias, int batch,
                int in_channels, int in_h, int in_w, int out_channels, int kernel_h, int kernel_w,
                int stride, int pad)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1, pixels = out_h * out_w;
    for (int i = 0; i < batch * out_channels * pixels; i++) {
        y[i] = bias ? bias[i / pixels % out_channels] : 0.0f;
    }
    for (int at = 0; at < batch * in_channels * in_h * in_w; at++) {
        int col = at % in_w + pad, row = at / in_w % in_h + pad, c = at / in_w / in_h % in_channels;
        float *image = y + at / in_w / in_h / in_channels * out_channels * pixels;
        for (int f = 0; f < out_channels * kernel_h * kernel_w; f++) {
            int s = f % kernel_w, r = f / kernel_w % kernel_h, o = f / kernel_w / kernel_h;
            if (row < r || col < s || (row - r) % stride || (col - s) % stride) continue;
            int i = (row - r) / stride, j = (col - s) / stride;
            if (i >= out_h || j >= out_w) continue;
            image[(o * out_h + i) * out_w + j] +=
                x[at] * w[((o * in_channels + c) * kernel_h + r) * kernel_w + s];
        }
    }
}
