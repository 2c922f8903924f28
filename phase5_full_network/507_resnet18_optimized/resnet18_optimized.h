/*
 * resnet18_optimized.h: the contract of exercise 507. The conventions are in network.h.
 */
#ifndef COURSE_RESNET18_OPTIMIZED_H
#define COURSE_RESNET18_OPTIMIZED_H

#include "resnet18_layout.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct resnet18_opt resnet18_opt;

/** How the products of convolutions are computed; sums are fp32 in each. */
typedef enum resnet18_precision {
    RESNET18_FP32, /**< as accurate as fp32: three TF32 products for one */
    RESNET18_TF32, /**< factors rounded to 11 bits; activations fp32 */
    RESNET18_FP16, /**< weights and activations fp16: values beyond 65,504 are infinite */
} resnet18_precision;

/**
 * Prepares everything: folded weights, one arena for all activations, and the graph of the launches
 * for exactly this batch and size. A batch below 1, a size below 32 or another precision gives
 * cudaErrorInvalidValue.
 * @param net receives the network, or NULL on an error. @param h_params [RESNET18_FLOATS]
 */
cudaError_t resnet18_create_opt(resnet18_opt **net, const float *h_params, int batch, int size,
                                resnet18_precision precision);
/** @param logits [batch x RESNET18_CLASSES]. @param x [batch x 3 x size x size], as in 505, fp32.
 *  Both may differ from call to call. The same images give the same logits, to the last bit.
 *  A stream that its caller is capturing (407) receives the launches. */
cudaError_t resnet18_forward_opt(resnet18_opt *net, float *logits, const float *x,
                                 cudaStream_t stream);
/** @return bytes of device memory that the network holds */
size_t resnet18_device_bytes_opt(const resnet18_opt *net);
/** NULL is allowed. */
cudaError_t resnet18_free_opt(resnet18_opt *net);

#ifdef __cplusplus
}
#endif

#endif
