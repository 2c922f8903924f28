/*
 * 306_conv2d.cu: convolution by its definition, one thread per output.
 *
 * The idea: an output needs its filter and the window of the image under it, and no other output,
 * so there are as many independent tasks as outputs: 802,816 for the first layer of ResNet-18. A
 * thread finds out from its number which image, filter, row and column it is. Columns run fastest,
 * as in memory: the 32 lanes of a warp hold 32 neighbouring windows. At each element of the window
 * they read 32 neighbours of x (a line, or two with stride 2) and the same element of w (one
 * broadcast).
 *
 * What it costs: neighbouring windows overlap. With a kernel of 3 x 3 every pixel is loaded nine
 * times by each of the filters, two loads for each multiply-add, and only the cache keeps these
 * loads from memory. 307 puts both factors into shared memory.
 */
#include "306_conv2d/conv2d.h"
#include "not_implemented.h"

/* TODO: the sizes of a convolution, as one argument for the kernel (about 4 lines). */

/* TODO: dot_window: one filter times the window of one image whose corner is (top, left),
   leaving out what is outside (about 16 lines). */

/* TODO: conv2d_kernel: from the number of the output to its column, row, filter and image; then
   dot_window and the bias (about 16 lines). */

cudaError_t conv2d_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_channels, int in_h, int in_w, int out_channels, int kernel_h,
                           int kernel_w, int stride, int pad, cudaStream_t stream)
{
    /* TODO: out_h and out_w, the number of outputs, a thread for each (about 8 lines). */
    NOT_IMPLEMENTED(y, x, w, bias, batch, in_channels, in_h, in_w, out_channels, kernel_h, kernel_w,
                    stride, pad, stream);
    return cudaGetLastError();
}
