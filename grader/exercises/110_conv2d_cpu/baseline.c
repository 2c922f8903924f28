/* 110_conv2d_cpu.c: convolution by its definition: seven loops, with the tests for the edge of the
 * image where they cost least. It takes the arguments of conv2d_cpu_im2col, and leaves columns
 * alone. */
#include <stddef.h>

static float dot_window(const float *x, const float *w, int channels, int in_h, int in_w,
                        int kernel_h, int kernel_w, int top, int left)
{
    float sum = 0.0f;
    for (int c = 0; c < channels; c++) {
        for (int r = 0; r < kernel_h; r++, w += kernel_w) {
            if (top + r < 0 || top + r >= in_h) continue;
            const float *row = x + ((size_t)c * in_h + top + r) * in_w;
            for (int s = 0; s < kernel_w; s++) {
                if (left + s >= 0 && left + s < in_w) sum += w[s] * row[left + s];
            }
        }
    }
    return sum;
}

void baseline_conv2d_direct(float *y, float *columns, const float *x, const float *w,
                            const float *bias, int batch, int in_channels, int in_h, int in_w,
                            int out_channels, int kernel_h, int kernel_w, int stride, int pad)
{
    int out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    int out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    size_t image = (size_t)in_channels * in_h * in_w,
           filter = (size_t)in_channels * kernel_h * kernel_w;
    (void)columns;
    for (int b = 0; b < batch; b++) {
        for (int o = 0; o < out_channels; o++) {
            for (int i = 0; i < out_h; i++) {
                for (int j = 0; j < out_w; j++) {
                    *y++ = bias[o] + dot_window(x + b * image, w + o * filter, in_channels, in_h,
                                                in_w, kernel_h, kernel_w, i * stride - pad,
                                                j * stride - pad);
                }
            }
        }
    }
}
