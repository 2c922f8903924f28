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

/* TODO: out_size: how many windows fit along one side, with padding (about 4 lines). */

/* TODO: dot_window: one filter times the window of x whose corner is (top, left), leaving out
   what is outside of the image (about 16 lines). */

void conv2d_cpu(float *y, const float *x, const float *w, const float *bias, int batch,
                int in_channels, int in_h, int in_w, int out_channels, int kernel_h, int kernel_w,
                int stride, int pad)
{
    /* TODO: for every image, filter and output: bias, if there is one, plus dot_window (about
       14 lines). */
    NOT_IMPLEMENTED(y, x, w, bias, batch, in_channels, in_h, in_w, out_channels, kernel_h, kernel_w,
                    stride, pad);
}

/* TODO: range_of: which of the out_w outputs of a row read inside the image, when the window's
   column is `shift` to the right of its corner (about 9 lines). */

void im2col_cpu(float *columns, const float *x, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    /* TODO: for every (c, r, s) and every row of outputs: zeros, then the elements of one row
       of x that range_of names, stride apart (about 17 lines). */
    NOT_IMPLEMENTED(columns, x, in_channels, in_h, in_w, kernel_h, kernel_w, stride, pad);
}

void col2im_cpu(float *x, const float *columns, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad)
{
    /* TODO: x = 0; then the same loops, adding the other way (about 15 lines). */
    NOT_IMPLEMENTED(x, columns, in_channels, in_h, in_w, kernel_h, kernel_w, stride, pad);
}

void conv2d_cpu_im2col(float *y, float *columns, const float *x, const float *w, const float *bias,
                       int batch, int in_channels, int in_h, int in_w, int out_channels,
                       int kernel_h, int kernel_w, int stride, int pad)
{
    /* TODO: for every image: columns, the product, and the bias (about 14 lines). */
    NOT_IMPLEMENTED(y, columns, x, w, bias, batch, in_channels, in_h, in_w, out_channels, kernel_h,
                    kernel_w, stride, pad);
}
