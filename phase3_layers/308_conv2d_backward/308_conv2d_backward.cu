/*
 * 308_conv2d_backward.cu: the three gradients of a convolution.
 *
 * The idea: y[i] = sum over taps of w * x[i * stride - pad + tap], so that a pixel of x contributes
 * to every window it lies under, and a weight to every output of its filter. What was shared in the
 * forward pass is summed in the backward pass, and the thread or block that stores a gradient also
 * sums it:
 *
 *     grad_x     a thread per pixel: which windows is it under? At tap r the window begins at
 *                row + pad - r, which must be a multiple of the stride.
 *     grad_w     a block per weight: over all images and outputs, grad_y times the pixel
 *                that this weight met there. 802,816 products for each weight of a batch of 64
 *                images of 112 x 112, and no other block adds to it: no atomics, one order.
 *     grad_bias  a block per filter: the sum of its planes of grad_y.
 *
 * What it costs: as in 306 every load serves one multiplication. Both large gradients are matrix
 * products too, grad_x = w^T * grad_y by way of col2im, grad_w = grad_y * columns^T (110), and
 * tiles do for them what 307 does for the forward pass.
 */
#include "308_conv2d_backward/conv2d_backward.h"
#include "not_implemented.h"

/* TODO: the sizes of a convolution, as one argument for the kernels (about 4 lines). */

/* TODO: grad_pixel: the sum over one filter's plane of grad_y, of weight times gradient, for
   the windows that the pixel (row, col) lies under (about 18 lines). */

/* TODO: grad_x_kernel: a block per plane of x, a thread per pixel: grad_pixel of all filters
   (about 16 lines). */

/* TODO: BLOCK, and block_sum: the sum of one value per thread, for thread 0 (about 12 lines).
 */

/* TODO: grad_w_kernel: a block per weight; its threads share the outputs of all images (about
   22 lines). */

/* TODO: grad_bias_kernel: a block per filter (about 12 lines). */

cudaError_t conv2d_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_channels, int in_h,
                            int in_w, int out_channels, int kernel_h, int kernel_w, int stride,
                            int pad, cudaStream_t stream)
{
    /* TODO: the sizes; a launch for each gradient that is wanted, unless it is empty (about 14
       lines). */
    NOT_IMPLEMENTED(grad_x, grad_w, grad_bias, grad_y, x, w, batch, in_channels, in_h, in_w,
                    out_channels, kernel_h, kernel_w, stride, pad, stream);
    return cudaGetLastError();
}
