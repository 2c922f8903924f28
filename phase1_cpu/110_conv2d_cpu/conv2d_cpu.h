/*
 * conv2d_cpu.h: the contract of exercise 110. The conventions are in cpu.h.
 *
 * Convolution as networks use it: the kernel is not flipped. The image is surrounded by `pad`
 * zeros; with them it is at least as large as the kernel.
 * out_h = (in_h + 2 pad - kernel_h) / stride + 1, rounded down, and out_w likewise.
 */
#ifndef COURSE_CONV2D_CPU_H
#define COURSE_CONV2D_CPU_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * y[b][o][i][j] = bias[o] + the sum over channels c, rows r, columns s of
 *                 w[o][c][r][s] * x[b][c][i * stride - pad + r][j * stride - pad + s]
 * @param y    [batch x out_channels x out_h x out_w]
 * @param x    [batch x in_channels x in_h x in_w]
 * @param w    [out_channels x in_channels x kernel_h x kernel_w]
 * @param bias [out_channels], or NULL
 */
void conv2d_cpu(float *y, const float *x, const float *w, const float *bias, int batch,
                int in_channels, int in_h, int in_w, int out_channels, int kernel_h, int kernel_w,
                int stride, int pad);
/**
 * The windows of one image, side by side: column i * out_w + j holds the window of output (i, j).
 * @param columns [(in_channels * kernel_h * kernel_w) x (out_h * out_w)]
 * @param x       [in_channels x in_h x in_w]
 */
void im2col_cpu(float *columns, const float *x, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad);
/** The reverse: every element of x becomes the sum of its copies in columns. */
void col2im_cpu(float *x, const float *columns, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad);
/** As conv2d_cpu, by im2col_cpu and matmul_cpu_vectorized. @param columns scratch, as large as the
 *  columns of im2col_cpu for one image */
void conv2d_cpu_im2col(float *y, float *columns, const float *x, const float *w, const float *bias,
                       int batch, int in_channels, int in_h, int in_w, int out_channels,
                       int kernel_h, int kernel_w, int stride, int pad);

#ifdef __cplusplus
}
#endif

#endif
