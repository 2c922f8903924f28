/*
 * resnet18.h: the contract of exercise 505. The conventions are in network.h.
 */
#ifndef COURSE_RESNET18_H
#define COURSE_RESNET18_H

#include "resnet18_layout.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct resnet18 resnet18;

/** @param net receives the network, or NULL on an error. @param h_params [RESNET18_FLOATS] */
cudaError_t resnet18_create(resnet18 **net, const float *h_params);
/**
 * All layers on the device, in fp32. The first call with a larger batch or size than any before may
 * allocate. A row of logits does not depend on the other images of the batch. A batch of 0 does
 * nothing.
 * @param logits      [batch x RESNET18_CLASSES]
 * @param activations [batch * resnet18_activations(size)], stage after stage; NULL when not wanted
 * @param x           [batch x 3 x size x size]
 */
cudaError_t resnet18_forward(resnet18 *net, float *logits, float *activations, const float *x,
                             int batch, int size, cudaStream_t stream);
/** The same with host memory: one copy to the device and one back, which is complete at return.
 *  @param h_logits [batch x RESNET18_CLASSES]. @param h_x [batch x 3 x size x size] */
cudaError_t resnet18_classify(resnet18 *net, float *h_logits, const float *h_x, int batch, int size,
                              cudaStream_t stream);
/** @return bytes of device memory that the network holds now */
size_t resnet18_device_bytes(const resnet18 *net);
/** NULL is allowed. */
cudaError_t resnet18_free(resnet18 *net);

#ifdef __cplusplus
}
#endif

#endif
