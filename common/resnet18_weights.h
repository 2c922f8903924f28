/*
 * resnet18_weights.h: random weights for ResNet-18, which need no download, and random images.
 *
 * Everything is made from a seed. Such a network recognizes nothing. But it computes as much as a
 * trained one, its activations are as large, and different images get different logits. That is
 * enough to tell a right implementation from a wrong one.
 */
#ifndef COURSE_RESNET18_WEIGHTS_H
#define COURSE_RESNET18_WEIGHTS_H

#include "resnet18_layout.h"
#include "weights.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Convolutions are initialized as in He et al., but some filters are much smaller, so that epsilon
 * matters. gamma and beta are random. The running mean and variance are about those that a channel
 * would have if its inputs were independent and normal. So activations neither vanish nor explode,
 * and the part that all images share is subtracted.
 * @param params [RESNET18_FLOATS]
 */
void resnet18_random_params(float *params, unsigned long long seed);

/** Waves of a few directions and lengths, plus noise: mean 0, deviation 1. Image i depends only on
 *  seed and i. @param x [batch x 3 x size x size] */
void resnet18_random_images(float *x, int batch, int size, unsigned long long seed);

/** Each convolution has w, gamma, beta, mean and var; the linear layer has w and bias. */
#define RESNET18_ARRAYS (5 * RESNET18_CONVS + 2)

typedef char resnet18_name[WEIGHTS_NAME_MAX];

/**
 * The arrays in a file of ResNet-18's weights, with torchvision's names and shapes, in the order of
 * params; data points into params.
 * @param names  receives the strings that arrays[].name point to
 * @param params [RESNET18_FLOATS]
 */
void resnet18_arrays(weights_array arrays[RESNET18_ARRAYS], resnet18_name names[RESNET18_ARRAYS],
                     const float *params);

/** @return the bytes of a file of weights (weights.h), which the caller frees, or NULL if memory is
 *  short. @param bytes receives their number */
void *resnet18_weights_image(size_t *bytes, const float *params);

/** Write a file of weights. @return 0, or -1 with the reason in errno */
int resnet18_save(const char *path, const float *params);

#ifdef __cplusplus
}
#endif

#endif
