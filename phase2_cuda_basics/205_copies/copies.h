/*
 * copies.h: the contract of exercise 205. The conventions are in basics.h.
 *
 * h_ is host memory; it is ordinary, pageable memory unless a comment says pinned. Every function
 * returns the first error of its CUDA calls, and has then freed all that it allocated. n >= 1.
 */
#ifndef COURSE_COPIES_H
#define COURSE_COPIES_H

#include "202_devices/devices.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum copy_mode {
    COPY_PAGEABLE, /**< directly from and to the caller's memory */
    COPY_PINNED,   /**< through pinned memory that roundtrip allocates and frees */
} copy_mode;

/**
 * To the GPU and back: h_y[n] becomes h_x[n], bit for bit, by two copies. Waits for the second one.
 * @param h_gbs [2] gigabytes (1e9 bytes) per second of the copy to the device and of the copy back,
 *              measured by CUDA events around the copy alone: no allocation, no memcpy
 */
cudaError_t roundtrip(float *h_y, const float *h_x, size_t n, copy_mode mode, float *h_gbs,
                      cudaStream_t stream);

/**
 * A tensor on the CPU, with memory in both places, so that later calls allocate nothing.
 * @param t        receives the tensor, or NULL on an error
 * @param h_values [n], copied; not read before the allocations have succeeded
 */
cudaError_t tensor_create(tensor **t, const float *h_values, size_t n);
/** Moves the numbers to the GPU: one copy if they are on the CPU, none if they are on the GPU. Does
 *  not wait: the stream keeps the order. After an error they are where they were. */
cudaError_t tensor_to_gpu(tensor *t, cudaStream_t stream);
/** @return 1 if the numbers are on the GPU, else 0 */
int tensor_on_gpu(const tensor *t);
/** The same in the other direction. Waits for the copy, because the host reads the numbers next. */
cudaError_t tensor_to_cpu(tensor *t, cudaStream_t stream);
/** Frees the tensor, once the stream is done with its memory. NULL is allowed. */
cudaError_t tensor_free(tensor *t, cudaStream_t stream);

/** A layer, in place, on the GPU: x = relu(scale x + shift). NaN stays NaN. Does not wait.
 *  @return cudaErrorInvalidValue, and does nothing, when the tensor is on the CPU */
cudaError_t tensor_layer(tensor *t, float scale, float shift, cudaStream_t stream);
/** h_y[n] receives the numbers; the tensor is on the CPU afterwards. */
cudaError_t tensor_get(float *h_y, tensor *t, cudaStream_t stream);

/**
 * Layer after layer on h_x[n], with two copies between host and device for any number of layers.
 * @param h_scale, h_shift [layers]; 0 layers give h_y = h_x
 */
cudaError_t tensor_chain(float *h_y, const float *h_x, size_t n, const float *h_scale,
                         const float *h_shift, int layers, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
