/*
 * conv2d_implicit_gemm.h: the contract of exercise 307. The conventions are in layers.h.
 */
#ifndef COURSE_CONV2D_IMPLICIT_GEMM_H
#define COURSE_CONV2D_IMPLICIT_GEMM_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As conv2d_forward, by a tiled matrix product. One factor, the columns of im2col (110), is never
 *  stored in global memory. batch * out_h * out_w is below 2^31. */
cudaError_t conv2d_implicit_gemm(float *y, const float *x, const float *w, const float *bias,
                                 int batch, int in_channels, int in_h, int in_w, int out_channels,
                                 int kernel_h, int kernel_w, int stride, int pad,
                                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
