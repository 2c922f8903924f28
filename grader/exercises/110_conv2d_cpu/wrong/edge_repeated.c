// WRONG: ones, 3x3, pad 1 | should be 8
/* The image goes on with its last pixels instead of zeros. */
#include "cpu.h"

void conv2d_cpu(float *y, const float *x, const float *w, const float *bias, int batch,
                int in_channels, int in_h, int in_w, int out_channels, int kernel_h, int kernel_w,
                int stride, int pad)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1,
        out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    for (int o = 0; o < batch * out_channels; o++) {
        const float *image = x + (size_t)(o / out_channels) * in_channels * in_h * in_w;
        const float *filter = w + (size_t)(o % out_channels) * in_channels * kernel_h * kernel_w;
        for (int p = 0; p < out_h * out_w; p++) {
            float sum = bias ? bias[o % out_channels] : 0.0f;
            for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
                int s = f % kernel_w, r = f / kernel_w % kernel_h, c = f / kernel_w / kernel_h;
                int row = p / out_w * stride - pad + r, col = p % out_w * stride - pad + s;
                row = row < 0 ? 0 : row >= in_h ? in_h - 1 : row;
                col = col < 0 ? 0 : col >= in_w ? in_w - 1 : col;
                sum += filter[f] * image[(c * in_h + row) * in_w + col];
            }
            *y++ = sum;
        }
    }
}
