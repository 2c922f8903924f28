/*
 * 110_conv2d_cpu.c: convolution, twice: by its definition, and as a matrix product.
 *
 * The idea: an output is the dot product of a filter with the window of the image that lies under
 * it. Seven loops say that: images, filters, two for the output, and three for the window. The
 * innermost is as short as the kernel is wide, 3 turns or 7, with a test for the edge in each.
 *
 * im2col copies the windows, one per column. A filter is then a row, the filters are a matrix as
 * they lie in memory, and all outputs of an image are one product:
 *
 *     y[out_channels x pixels] = w[out_channels x (c, r, s)] * columns[(c, r, s) x pixels]
 *
 * at the speed of 106. Row (c, r, s) of columns is channel c moved by (r, s): long stretches of
 * neighbours, and the edge is dealt with while copying, not while multiplying.
 *
 * The cost it removes: short loops and a test for each multiplication.
 * The cost it leaves: columns is 9 times as large as the image for 3 x 3 at stride 1, 12 times for
 * ResNet's 7 x 7 at stride 2, written once and read once. 307 multiplies the same matrices without
 * ever storing columns.
 */
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "110_conv2d_cpu/conv2d_cpu.h"
#include "not_implemented.h"
#include <string.h>

/* SOLUTION: out_size: how many windows fit along one side, with padding (about 4 lines). */
static int out_size(int in, int kernel, int stride, int pad)
{
    return (in + 2 * pad - kernel) / stride + 1;
}
/* END SOLUTION */

/* SOLUTION: dot_window: one filter times the window of x whose corner is (top, left), leaving out
   what is outside of the image (about 16 lines). */
static float dot_window(const float *x, const float *w, int channels, int in_h, int in_w,
                        int kernel_h, int kernel_w, int top, int left)
{
    float sum = 0.0f;
    for (int c = 0; c < channels; c++) {
        for (int r = 0; r < kernel_h; r++) {
            int row = top + r;
            if (row < 0 || row >= in_h) continue; /* padding: zeros */
            for (int s = 0; s < kernel_w; s++) {
                int col = left + s;
                if (col < 0 || col >= in_w) continue;
                sum +=
                    w[(c * kernel_h + r) * kernel_w + s] * x[((size_t)c * in_h + row) * in_w + col];
            }
        }
    }
    return sum;
}
/* END SOLUTION */

void conv2d_cpu(float *y, const float *x, const float *w, const float *bias, int batch,
                int in_channels, int in_h, int in_w, int out_channels, int kernel_h, int kernel_w,
                int stride, int pad)
{
    /* SOLUTION: for every image, filter and output: bias, if there is one, plus dot_window (about
       14 lines). */
    int out_h = out_size(in_h, kernel_h, stride, pad),
        out_w = out_size(in_w, kernel_w, stride, pad);
    size_t image = (size_t)in_channels * in_h * in_w;
    size_t filter = (size_t)in_channels * kernel_h * kernel_w;

    for (int b = 0; b < batch; b++) {
        for (int o = 0; o < out_channels; o++) {
            for (int i = 0; i < out_h; i++) {
                for (int j = 0; j < out_w; j++) {
                    float sum = dot_window(x + b * image, w + o * filter, in_channels, in_h, in_w,
                                           kernel_h, kernel_w, i * stride - pad, j * stride - pad);
                    *y++ = bias != NULL ? sum + bias[o] : sum; /* in the order of the loops */
                }
            }
        }
    }
    /* END SOLUTION */
}

/* SOLUTION: range_of: which of the out_w outputs of a row read inside the image, when the window's
   column is `shift` to the right of its corner (about 9 lines). */
/** Outputs first <= j < end have 0 <= j * stride + shift < in. */
static void range_of(int *first, int *end, int out, int in, int stride, int shift)
{
    int low = shift < 0 ? (-shift + stride - 1) / stride : 0;
    int high = in - shift > 0 ? (in - shift - 1) / stride + 1 : 0;
    *end = high < out ? high : out;
    *first = low < *end ? low : *end;
}
/* END SOLUTION */

void im2col_cpu(float *columns, const float *x, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    /* SOLUTION: for every (c, r, s) and every row of outputs: zeros, then the elements of one row
       of x that range_of names, stride apart (about 17 lines). */
    int out_h = out_size(in_h, kernel_h, stride, pad),
        out_w = out_size(in_w, kernel_w, stride, pad);
    for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
        int s = f % kernel_w, r = f / kernel_w % kernel_h, c = f / kernel_w / kernel_h;
        int first, end;
        range_of(&first, &end, out_w, in_w, stride, s - pad);
        for (int i = 0; i < out_h; i++, columns += out_w) {
            int row = i * stride - pad + r;
            memset(columns, 0, (size_t)out_w * sizeof *columns);
            if (row < 0 || row >= in_h) continue;
            const float *from = x + ((size_t)c * in_h + row) * in_w + s - pad;
            for (int j = first; j < end; j++) columns[j] = from[j * stride];
        }
    }
    /* END SOLUTION */
}

void col2im_cpu(float *x, const float *columns, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    /* SOLUTION: x = 0; then the same loops, adding the other way (about 15 lines). */
    int out_h = out_size(in_h, kernel_h, stride, pad),
        out_w = out_size(in_w, kernel_w, stride, pad);
    memset(x, 0, (size_t)in_channels * in_h * in_w * sizeof *x);
    for (int f = 0; f < in_channels * kernel_h * kernel_w; f++) {
        int s = f % kernel_w, r = f / kernel_w % kernel_h, c = f / kernel_w / kernel_h;
        int first, end;
        range_of(&first, &end, out_w, in_w, stride, s - pad);
        for (int i = 0; i < out_h; i++, columns += out_w) {
            int row = i * stride - pad + r;
            if (row < 0 || row >= in_h) continue;
            float *to = x + ((size_t)c * in_h + row) * in_w + s - pad;
            for (int j = first; j < end; j++) to[j * stride] += columns[j];
        }
    }
    /* END SOLUTION */
}

void conv2d_cpu_im2col(float *y, float *columns, const float *x, const float *w, const float *bias,
                       int batch, int in_channels, int in_h, int in_w, int out_channels,
                       int kernel_h, int kernel_w, int stride, int pad)
{
    /* SOLUTION: for every image: columns, the product, and the bias (about 14 lines). */
    int pixels = out_size(in_h, kernel_h, stride, pad) * out_size(in_w, kernel_w, stride, pad);
    int filter = in_channels * kernel_h * kernel_w;
    for (int b = 0; b < batch; b++) {
        im2col_cpu(columns, x, in_channels, in_h, in_w, kernel_h, kernel_w, stride, pad);
        matmul_cpu_vectorized(y, w, columns, out_channels, pixels, filter);
        for (int o = 0; bias != NULL && o < out_channels; o++) {
            for (int p = 0; p < pixels; p++) y[(size_t)o * pixels + p] += bias[o];
        }
        x += (size_t)in_channels * in_h * in_w;
        y += (size_t)out_channels * pixels;
    }
    /* END SOLUTION */
}
