/*
 * resnet18_int8.h: the contract of exercise 5c. The conventions are in network.h.
 *
 * ResNet-18 whose convolutions multiply 8-bit integers. A number x is quantized with a scale to
 *
 *     q(x, scale) = x / scale, rounded to the nearest, halves to even, then clamped to -127 .. 127
 *
 * Batch normalizations are folded into weights and biases (309), in fp32. Then each filter and each
 * tensor has one scale: the largest |x| / 127, or 1 if all x are 0. For a filter, x are its folded
 * weights; for a tensor, its values in an fp32 network on the calibration images. The tensors are
 * the images and the outputs of the convolutions in resnet18_convs, each after its ReLU, if it has
 * one. The second convolution of a block adds the shortcut before its ReLU. Sums of products are
 * exact:
 *
 *     x = sum * (scale of the input * scale of the filter) + bias (+ shortcut * its scale)
 *     y = q(relu(x), scale of y)         x without relu after the convolution of a shortcut
 *
 * in fp32. The pooling takes the largest of integers, so its scale is that of conv1. Mean and
 * linear layer are fp32. NaN in an image counts as 0, infinities as the ends of the range.
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
 * @param h_images [count x 3 x size x size], the calibration images
 * @return cudaErrorInvalidValue for a count below 1, a size below 32, or images that are not finite
 */
cudaError_t resnet18_create_int8(resnet18_int8 **net, const float *h_params, const float *h_images,
                                 int count, int size);
/**
 * The first call with a larger batch or size than any before may allocate. A row of logits does not
 * depend on the other images of the batch. A batch below 0, or a size below 32, gives
 * cudaErrorInvalidValue; else a batch of 0 does nothing.
 * @param logits  [batch x RESNET18_CLASSES]
 * @param tensors the outputs of the convolutions, one after the other, each [batch x side x side x
 *                out_channels]; at any address; NULL when not wanted
 * @param x       [batch x 3 x size x size], fp32
 */
cudaError_t resnet18_forward_int8(resnet18_int8 *net, float *logits, int8_t *tensors,
                                  const float *x, int batch, int size, cudaStream_t stream);
/** @param h_scales [RESNET18_CONVS + 1]: of the outputs of the convolutions, then of the images */
cudaError_t resnet18_scales_int8(const resnet18_int8 *net, float *h_scales);
/** @return bytes of device memory that the network holds now */
size_t resnet18_device_bytes_int8(const resnet18_int8 *net);
/** NULL is allowed. */
cudaError_t resnet18_free_int8(resnet18_int8 *net);

#ifdef __cplusplus
}
#endif

#endif
