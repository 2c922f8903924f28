/*
 * conv2d.h: the contract of exercise 306. The conventions are in layers.h.
 */
#ifndef COURSE_CONV2D_H
#define COURSE_CONV2D_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Convolution as conv2d_cpu (110): the kernel is not flipped; `pad` zeros surround the image.
 * out_h = (in_h + 2 pad - kernel_h) / stride + 1, rounded down, and out_w likewise.
 * @param y    [batch x out_channels x out_h x out_w]
 * @param x    [batch x in_channels x in_h x in_w]
 * @param w    [out_channels x in_channels x kernel_h x kernel_w]
 * @param bias [out_channels], or NULL
 */
cudaError_t conv2d_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_channels, int in_h, int in_w, int out_channels, int kernel_h,
                           int kernel_w, int stride, int pad, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
