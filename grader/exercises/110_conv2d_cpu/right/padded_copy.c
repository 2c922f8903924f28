// RIGHT: every image is copied into a larger one with zeros around it, and then has no edge; both
// convolutions are the same loops, filters innermost
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "110_conv2d_cpu/conv2d_cpu.h"
#include <stdlib.h>
#include <string.h>

typedef struct sizes {
    int channels, h, w, kernel_h, kernel_w, stride, pad, wide, high, out_h, out_w;
} sizes;

static sizes sizes_of(int channels, int h, int w, int kernel_h, int kernel_w, int stride, int pad)
{
    sizes z = {channels, h, w, kernel_h, kernel_w, stride, pad, w + 2 * pad, h + 2 * pad, 0, 0};
    z.out_h = (z.high - kernel_h) / stride + 1;
    z.out_w = (z.wide - kernel_w) / stride + 1;
    return z;
}

static float *padded(const float *x, sizes z)
{
    float *copy = calloc((size_t)z.channels * z.high * z.wide + 1, sizeof *copy);
    if (!copy) abort();
    for (int line = 0; line < z.channels * z.h; line++) {
        int c = line / z.h, row = line % z.h + z.pad;
        memcpy(copy + ((size_t)c * z.high + row) * z.wide + z.pad, x + (size_t)line * z.w,
               (size_t)z.w * sizeof *x);
    }
    return copy;
}

/* Where element f of the window of output p lies in a padded image. */
static size_t place(int f, int p, sizes z)
{
    int s = f % z.kernel_w, r = f / z.kernel_w % z.kernel_h, c = f / z.kernel_w / z.kernel_h;
    int row = p / z.out_w * z.stride + r, col = p % z.out_w * z.stride + s;
    return ((size_t)c * z.high + row) * z.wide + col;
}

void conv2d_cpu(float *y, const float *x, const float *w, const float *bias, int batch,
                int in_channels, int in_h, int in_w, int out_channels, int kernel_h, int kernel_w,
                int stride, int pad)
{
    sizes z = sizes_of(in_channels, in_h, in_w, kernel_h, kernel_w, stride, pad);
    int taps = in_channels * kernel_h * kernel_w, pixels = z.out_h * z.out_w;
    for (int b = 0; b < batch; b++, x += in_channels * in_h * in_w, y += out_channels * pixels) {
        float *image = padded(x, z);
        for (int i = 0; i < out_channels * pixels; i++) y[i] = bias ? bias[i / pixels] : 0.0f;
        for (int f = 0; f < taps; f++) {
            for (int p = 0; p < pixels; p++) {
                float value = image[place(f, p, z)];
                for (int o = 0; o < out_channels; o++) y[o * pixels + p] += w[o * taps + f] * value;
            }
        }
        free(image);
    }
}

void im2col_cpu(float *columns, const float *x, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    sizes z = sizes_of(in_channels, in_h, in_w, kernel_h, kernel_w, stride, pad);
    float *image = padded(x, z);
    for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
        for (int p = 0; p < z.out_h * z.out_w; p++) *columns++ = image[place(f, p, z)];
    }
    free(image);
}

void col2im_cpu(float *x, const float *columns, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    sizes z = sizes_of(in_channels, in_h, in_w, kernel_h, kernel_w, stride, pad);
    float *sums = calloc((size_t)in_channels * z.high * z.wide + 1, sizeof *sums);
    if (!sums) abort();
    for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
        for (int p = 0; p < z.out_h * z.out_w; p++) sums[place(f, p, z)] += *columns++;
    }
    for (int line = 0; line < in_channels * in_h; line++) {
        size_t row = (size_t)line / in_h * z.high + line % in_h + pad;
        memcpy(x + (size_t)line * in_w, sums + row * z.wide + pad, (size_t)in_w * sizeof *x);
    }
    free(sums);
}

void conv2d_cpu_im2col(float *y, float *columns, const float *x, const float *w, const float *bias,
                       int batch, int in_channels, int in_h, int in_w, int out_channels,
                       int kernel_h, int kernel_w, int stride, int pad)
{
    (void)columns;
    conv2d_cpu(y, x, w, bias, batch, in_channels, in_h, in_w, out_channels, kernel_h, kernel_w,
               stride, pad);
}
