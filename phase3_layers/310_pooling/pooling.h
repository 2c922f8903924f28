/*
 * pooling.h: the contract of exercise 310. The conventions are in layers.h.
 *
 * Each channel of each image is a plane, which is pooled by itself.
 */
#ifndef COURSE_POOLING_H
#define COURSE_POOLING_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * y = the largest element of each window of kernel_size x kernel_size. Padding does not take
 * part; pad is at most kernel_size / 2. A NaN in the window is the largest. out_h =
 * (in_h + 2 pad - kernel_size) / stride + 1, rounded down, and out_w likewise.
 * @param y      [batch x channels x out_h x out_w]
 * @param argmax likewise: the place of that element in its plane of x, row * in_w + column; the
 *               first of equal elements, any of several NaN
 * @param x      [batch x channels x in_h x in_w]
 */
cudaError_t maxpool2d_forward(float *y, int *argmax, const float *x, int batch, int channels,
                              int in_h, int in_w, int kernel_size, int stride, int pad,
                              cudaStream_t stream);
/** grad_x [batch x channels x in_h x in_w]: for each element the sum of grad_y over the windows
 *  whose argmax it is; the same bits every time. */
cudaError_t maxpool2d_backward(float *grad_x, const float *grad_y, const int *argmax, int batch,
                               int channels, int in_h, int in_w, int kernel_size, int stride,
                               int pad, cudaStream_t stream);
/** y [batch x channels] = the mean of each plane of x [batch x channels x h x w]. */
cudaError_t global_avgpool_forward(float *y, const float *x, int batch, int channels, int h, int w,
                                   cudaStream_t stream);
/** grad_x [batch x channels x h x w] from grad_y [batch x channels]. */
cudaError_t global_avgpool_backward(float *grad_x, const float *grad_y, int batch, int channels,
                                    int h, int w, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
