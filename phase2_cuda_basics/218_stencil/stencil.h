/*
 * stencil.h: the contract of exercise 218. The conventions are in basics.h.
 *
 * Images are fp32, row-major: pixel (y, x) is in[y * width + x]. A filter of radius r has
 * (2 r + 1) x (2 r + 1) weights, row-major, and is not flipped: this is the cross-correlation that
 * neural networks call a convolution.
 */
#ifndef COURSE_STENCIL_H
#define COURSE_STENCIL_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * out(y, x) = sum over dy, dx in -radius .. radius of
 *             filter(radius + dy, radius + dx) * in(y + dy, x + dx).
 *
 * A pixel outside of the image counts as the nearest pixel inside it. Every weight is multiplied: 0
 * times NaN is NaN. The kernels read the weights from __constant__ memory, and the image directly.
 *
 * Up to 64 calls, of both functions together, may be in flight at the same time, on one stream or on
 * several: each uses its own filter. One thread of the host makes the calls.
 *
 * @param out    [height x width]; it does not overlap in
 * @param filter on the device, [2 radius + 1, 2 radius + 1]
 * @param radius 0 to 4; else cudaErrorInvalidValue, and out is not written
 */
cudaError_t convolve(float *out, const float *in, int height, int width, const float *filter,
                     int radius, cudaStream_t stream);

/** The same. Each block loads its part of the image into shared memory once. */
cudaError_t convolve_tiled(float *out, const float *in, int height, int width, const float *filter,
                           int radius, cudaStream_t stream);

/** out[i] = table[index[i]] for i in 0 .. n-1. table: [256], on the device. */
cudaError_t look_up(float *out, const unsigned char *index, size_t n, const float *table,
                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
