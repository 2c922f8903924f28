/*
 * 310_pooling.cu: the largest of a window, the mean of a plane, and their gradients.
 *
 * The idea: pooling computes nothing, it moves memory, and the forward pass is 306 without weights:
 * a thread per output, columns fastest, here with a block for each plane. It also writes down
 * *which* element was the largest, because only that one determines the output: in the backward
 * pass its gradient is the sum of the gradients of all windows that it won.
 *
 * Windows overlap (3 x 3, stride 2), so threads per output that add to grad_x would meet there:
 * they need atomics, in an order that is not fixed. Threads per *input* never meet: each looks up
 * the few windows that can hold its element, adds up those that it won, always in the same order,
 * and writes once, zeros too.
 *
 * The mean of a plane is a row sum of h * w elements (208): a warp per plane.
 *
 * What it costs: argmax is as large as y and used in training only, but always written. Forward
 * reads every element of x up to four times with windows of 3 x 3 and stride 2; neighbours share
 * them in the L1 cache.
 */
#include "310_pooling/pooling.h"
#include "not_implemented.h"
#include <math.h>

/* TODO: the sizes, as one argument for the kernels (about 3 lines). */

/* TODO: maxpool_forward_kernel, a block of 32 x 8 threads per plane, x along the columns: the
   part of each window that lies in the image; the first of the largest (about 27 lines). */

/* TODO: first_window, the first that reaches as far as `place`; maxpool_backward_kernel: a
   thread per input looks at the windows that hold it and adds grad_y of those that it won (about 29
   lines).
 */

/* TODO: avgpool_forward_kernel, a warp per plane; avgpool_backward_kernel, a thread per element
   (about 18 lines). */

/* TODO: pool_of: the sizes, with out_h and out_w (about 6 lines). */

cudaError_t maxpool2d_forward(float *y, int *argmax, const float *x, int batch, int channels,
                              int in_h, int in_w, int kernel_size, int stride, int pad,
                              cudaStream_t stream)
{
    /* TODO: a block per plane, unless there is none (about 3 lines). */
    NOT_IMPLEMENTED(y, argmax, x, batch, channels, in_h, in_w, kernel_size, stride, pad, stream);
    return cudaGetLastError();
}

cudaError_t maxpool2d_backward(float *grad_x, const float *grad_y, const int *argmax, int batch,
                               int channels, int in_h, int in_w, int kernel_size, int stride,
                               int pad, cudaStream_t stream)
{
    /* TODO: likewise (about 3 lines). */
    NOT_IMPLEMENTED(grad_x, grad_y, argmax, batch, channels, in_h, in_w, kernel_size, stride, pad,
                    stream);
    return cudaGetLastError();
}

cudaError_t global_avgpool_forward(float *y, const float *x, int batch, int channels, int h, int w,
                                   cudaStream_t stream)
{
    /* TODO: 8 warps a block, a plane each (about 3 lines). */
    NOT_IMPLEMENTED(y, x, batch, channels, h, w, stream);
    return cudaGetLastError();
}

cudaError_t global_avgpool_backward(float *grad_x, const float *grad_y, int batch, int channels,
                                    int h, int w, cudaStream_t stream)
{
    /* TODO: a thread per element of grad_x (about 4 lines). */
    NOT_IMPLEMENTED(grad_x, grad_y, batch, channels, h, w, stream);
    return cudaGetLastError();
}
