/*
 * conv2d_backward.h: the contract of exercise 308. The conventions are in layers.h.
 */
#ifndef COURSE_CONV2D_BACKWARD_H
#define COURSE_CONV2D_BACKWARD_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Gradients of conv2d_forward, the same bits every time.
 * @param grad_x    [batch x in_channels x in_h x in_w]; pixels under no window get 0; NULL when not
 *                  wanted
 * @param grad_w    [out_channels x in_channels x kernel_h x kernel_w]; NULL when not wanted
 * @param grad_bias [out_channels]; NULL when not wanted
 * @param grad_y    [batch x out_channels x out_h x out_w]
 */
cudaError_t conv2d_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_channels, int in_h,
                            int in_w, int out_channels, int kernel_h, int kernel_w, int stride,
                            int pad, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
