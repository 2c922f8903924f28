/*
 * resnet18_weights.h: weights for ResNet-18 without a download, and images to go with them.
 *
 * Everything is made from a seed. Such a network recognizes nothing, but it computes as much as a
 * trained one, its activations are as large as theirs, and other images get other logits: enough to
 * tell a right implementation from a wrong one.
 */
#ifndef COURSE_RESNET18_WEIGHTS_H
#define COURSE_RESNET18_WEIGHTS_H

#include "resnet18_layout.h"
#include "weights.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Convolutions as He et al. initialize them, but for some filters that are much smaller, so that
 * epsilon matters; gamma and beta at random; and as running mean and variance about what each
 * channel would see if its inputs were independent and normal. So activations neither die nor
 * explode, and what all images have in common is subtracted again.
 * @param params [RESNET18_FLOATS]
 */
void resnet18_random_params(float *params, unsigned long long seed);

/** Waves of a few directions and lengths, and noise: mean 0, deviation 1. Image i depends on seed
 *  and i only. @param x [batch x 3 x size x size] */
void resnet18_random_images(float *x, int batch, int size, unsigned long long seed);

/** Of each convolution w, gamma, beta, mean and var; of the linear layer w and bias. */
#define RESNET18_ARRAYS (5 * RESNET18_CONVS + 2)

typedef char resnet18_name[WEIGHTS_NAME_MAX];

/**
 * What a file of ResNet-18's weights consists of: torchvision's names and shapes, in the order of
 * params; data points into params.
 * @param names  receives the texts that arrays[].name point to
 * @param params [RESNET18_FLOATS]
 */
void resnet18_arrays(weights_array arrays[RESNET18_ARRAYS], resnet18_name names[RESNET18_ARRAYS],
                     const float *params);

/** @return the bytes of a file of weights (weights.h), which the caller frees, or NULL where memory
 *  is short. @param bytes receives their number */
void *resnet18_weights_image(size_t *bytes, const float *params);

/** Write a file of weights. @return 0, or -1, and errno says why */
int resnet18_save(const char *path, const float *params);

#ifdef __cplusplus
}
#endif

#endif
