// WRONG: adjoint, 3x3, pad 1 | <x, col2im(g)>
/* On the way back each copy overwrites the one before, instead of being added. */
#include "cpu.h"
#include <string.h>

static float *pixel(float *x, int f, int p, int in_h, int in_w, int kernel_h, int kernel_w,
                    int out_w, int stride, int pad)
{
    int row = p / out_w * stride - pad + f / kernel_w % kernel_h;
    int col = p % out_w * stride - pad + f % kernel_w;
    if (row < 0 || row >= in_h || col < 0 || col >= in_w) return NULL;
    return x + (f / kernel_w / kernel_h * in_h + row) * in_w + col;
}

void im2col_cpu(float *columns, const float *x, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
        for (int p = 0; p < out_h * out_w; p++) {
            const float *from =
                pixel((float *)x, f, p, in_h, in_w, kernel_h, kernel_w, out_w, stride, pad);
            *columns++ = from ? *from : 0.0f;
        }
    }
}

void col2im_cpu(float *x, const float *columns, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    memset(x, 0, (size_t)in_channels * in_h * in_w * sizeof *x);
    for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
        for (int p = 0; p < out_h * out_w; p++, columns++) {
            float *to = pixel(x, f, p, in_h, in_w, kernel_h, kernel_w, out_w, stride, pad);
            if (to) *to = *columns;
        }
    }
}
