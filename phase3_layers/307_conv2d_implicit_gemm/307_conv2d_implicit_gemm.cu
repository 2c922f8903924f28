/*
 * 307_conv2d_implicit_gemm.cu: convolution as a matrix product, one factor of which is never
 * stored.
 *
 * The idea: 110 wrote the windows of the image into `columns`, 9 times as large as the image, and
 * multiplied. A tiled product (211) copies its factors tile by tile into shared memory anyway. So
 * let that copy do the work of im2col: element (f, p) of columns is looked up in x at the moment
 * when its tile is filled, and only y is ever written to global memory.
 *
 *     y[filters x pixels] = w[filters x taps] * columns[taps x pixels]
 *
 * pixels are those of all images of the batch, so that a batch of small images fills the GPU as
 * well as one large image. A thread always fetches for the same pixel: it finds the corner of its
 * window once, before the loop over the taps.
 *
 * Each thread holds 4 x 4 outputs in registers: in each step it reads 4 + 4 numbers from shared
 * memory for 16 multiply-adds. With one output per thread (211) it would read two numbers for one.
 *
 * What it costs: two divisions per fetched element to find row and column of a tap, 16 registers of
 * sums, and tiles that are partly empty: 49 pixels of a 7 x 7 image in a tile of 64 when the batch
 * is 1.
 */
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"
#include "not_implemented.h"

/* TODO: FILTERS and PIXELS of a block's tile of y, TAPS of a step, EACH x EACH outputs per
   thread; the sizes of a convolution (about 8 lines). */

/* TODO: window_of: from the number of a pixel to its image in x and the corner of its window
   (about 12 lines). */

/* TODO: column_element: element (tap, pixel) of the columns; 0 in the padding and outside of
   the matrix (about 9 lines). */

/* TODO: multiply: one step: the thread's EACH x EACH sums, from TAPS rows of both tiles (about
   14 lines). */

/* TODO: store: add the bias, and write the outputs that lie in y (about 16 lines). */

/* TODO: implicit_gemm_kernel: for TAPS at a time: fill both tiles, barrier, multiply, barrier;
   then store (about 25 lines). */

cudaError_t conv2d_implicit_gemm(float *y, const float *x, const float *w, const float *bias,
                                 int batch, int in_channels, int in_h, int in_w, int out_channels,
                                 int kernel_h, int kernel_w, int stride, int pad,
                                 cudaStream_t stream)
{
    /* TODO: the sizes, and a block per tile of y, pixels along x of the grid (about 12 lines).
     */
    NOT_IMPLEMENTED(y, x, w, bias, batch, in_channels, in_h, in_w, out_channels, kernel_h, kernel_w,
                    stride, pad, stream);
    return cudaGetLastError();
}
