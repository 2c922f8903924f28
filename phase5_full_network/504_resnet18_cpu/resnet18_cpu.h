/*
 * resnet18_cpu.h: the contract of exercise 504. The conventions are in network.h.
 */
#ifndef COURSE_RESNET18_CPU_H
#define COURSE_RESNET18_CPU_H

#include "resnet18_layout.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The first of these errors that a file of weights has. */
typedef enum weights_status {
    WEIGHTS_OK,
    WEIGHTS_FOREIGN,   /**< it has no whole header, or one with another magic or version */
    WEIGHTS_TRUNCATED, /**< it is shorter than header.bytes, or than its table or an array needs */
    WEIGHTS_MISMATCH,  /**< an array is missing, or its shape is not that in resnet18_convs */
    WEIGHTS_CORRUPT,   /**< a checksum is wrong */
} weights_status;

/**
 * Read ResNet-18's arrays from a file of weights (weights.h in common/), in any order; arrays with
 * other names are ignored. Nothing outside of file[bytes] is read, whatever the file says.
 * @param params [RESNET18_FLOATS] in the layout of resnet18_layout.h; unspecified after an error
 * @param file   the bytes of the whole file, at any address
 */
weights_status resnet18_load(float *params, const void *file, size_t bytes);

typedef struct resnet18_cpu resnet18_cpu;

/** @param params [RESNET18_FLOATS], not needed afterwards. @return NULL if memory is short */
resnet18_cpu *resnet18_create_cpu(const float *params);
/**
 * Runs in one thread, with convolutions by conv2d_cpu_im2col (110).
 * @param logits      [batch x RESNET18_CLASSES]
 * @param activations [batch * resnet18_activations(size)], stage after stage; NULL when not wanted
 * @param x           [batch x 3 x size x size]
 * @return 0, or -1 if memory is short
 */
int resnet18_forward_cpu(resnet18_cpu *net, float *logits, float *activations, const float *x,
                         int batch, int size);
/** NULL is allowed. */
void resnet18_free_cpu(resnet18_cpu *net);

#ifdef __cplusplus
}
#endif

#endif
