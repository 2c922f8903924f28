// WRONG: im2col of 2x5x6, 3x2, pad 1 | should be
/* The windows lie in rows, not in columns. */
#include "cpu.h"

void im2col_cpu(float *columns, const float *x, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    for (int p = 0; p < out_h * out_w; p++) {
        for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
            int row = p / out_w * stride - pad + f / kernel_w % kernel_h;
            int col = p % out_w * stride - pad + f % kernel_w;
            int inside = row >= 0 && row < in_h && col >= 0 && col < in_w;
            int channel = f / kernel_w / kernel_h;
            *columns++ = inside ? x[(channel * in_h + row) * in_w + col] : 0.0f;
        }
    }
}
