/*
 * resnet18_int8.h: the contract of exercise 5c. The conventions are in network.h.
 *
 * ResNet-18 whose convolutions multiply whole numbers of 8 bits. A number x with a scale is
 *
 *     q(x, scale) = x / scale, rounded to the nearest, halves to the even, then kept in -127 .. 127
 *
 * Batch normalizations are folded into weights and biases (309), in fp32. Then a filter has a scale
 * of its own, and a tensor one for all of it: the largest |x| / 127; of nothing but zeros 1. That
 * of a filter is taken over its folded weights, that of a tensor over what a network in fp32
 * computes for the calibration images. Tensors are the images, and what each convolution of
 * resnet18_convs leaves with all that follows it: the ReLU, where one does, and, of a block's
 * second, the shortcut before that. Sums of products are exact:
 *
 *     x = sum * (scale of the input * scale of the filter) + bias (+ shortcut * its scale)
 *     y = q(relu(x), scale of y)         x without relu after the convolution of a shortcut
 *
 * in fp32. The pooling takes the largest of whole numbers, so its scale is that of conv1. Mean and
 * linear layer are fp32. NaN in an image counts as 0, infinities as the ends.
 */
#ifndef COURSE_RESNET18_INT8_H
#define COURSE_RESNET18_INT8_H

#include "resnet18_layout.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct resnet18_int8 resnet18_int8;

/**
 * Waits for the device.
 * @param net      receives the network, or NULL on an error
 * @param h_params [RESNET18_FLOATS], all finite
 * @param h_images [count x 3 x size x size] to calibrate with
 * @return cudaErrorInvalidValue for a count below 1, a size below 32, or images that are not finite
 */
cudaError_t resnet18_create_int8(resnet18_int8 **net, const float *h_params, const float *h_images,
                                 int count, int size);
/**
 * The first call of a batch or size larger than any before may allocate; a row of logits does not
 * depend on the other images of the batch. A batch below 0, or a size below 32, gives
 * cudaErrorInvalidValue; else a batch of 0 does nothing.
 * @param logits  [batch x RESNET18_CLASSES]
 * @param tensors what each convolution leaves, one after the other, each [batch x side x side x
 *                out_channels]; at any address; NULL when not wanted
 * @param x       [batch x 3 x size x size], fp32
 */
cudaError_t resnet18_forward_int8(resnet18_int8 *net, float *logits, int8_t *tensors,
                                  const float *x, int batch, int size, cudaStream_t stream);
/** @param h_scales [RESNET18_CONVS + 1] of what each convolution leaves, and of the images */
cudaError_t resnet18_scales_int8(const resnet18_int8 *net, float *h_scales);
/** @return bytes of device memory that the network holds now */
size_t resnet18_device_bytes_int8(const resnet18_int8 *net);
/** NULL is allowed. */
cudaError_t resnet18_free_int8(resnet18_int8 *net);

#ifdef __cplusplus
}
#endif

#endif
