/*
 * optimized_encoder.h: a layer of an encoder as one operation, for a program in C, which is linked
 * with liboptimized_kernels.so. Conventions as in optimized_ops.h.
 *
 *     middle = x + out(attention(qkv(layernorm(x))))
 *     y      = middle + down(gelu(up(layernorm(middle))))
 *
 * Attention is not causal and scaled by 1/8; gelu is that of 301; the epsilon of layernorm is 1e-5.
 * x is [batch x seq x width]; a head has 64 channels, and width is 64 heads.
 */
#ifndef COURSE_OPTIMIZED_ENCODER_H
#define COURSE_OPTIMIZED_ENCODER_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct encoder_shape {
    int batch, seq, heads; /* at least 1 each */
    int bf16;              /* not 0: all matrices are bf16, products too; else they are fp32 */
} encoder_shape;

/** Parameters, or their gradients, at multiples of 16 bytes. Matrices are [inputs x outputs]. */
typedef struct encoder_parameters {
    float *vectors; /* gamma, beta [width] each; biases of qkv [3 x width], out [width]; the second
                       gamma, beta [width] each; biases of up [4 x width], down [width]: fp32 */
    void *qkv, *out, *up, *down; /* outputs: 3 x width, width, 4 x width, width */
} encoder_parameters;

/** @return bytes: what the forward pass keeps for the backward pass; what either needs meanwhile */
size_t optimized_encoder_kept(encoder_shape shape);
size_t optimized_encoder_room(encoder_shape shape);
/** @param y, x of the layer's type, at multiples of 16 bytes
 *  @param kept, room at multiples of 256 bytes */
cudaError_t optimized_encoder_forward(void *y, void *kept, void *room, const void *x,
                                      const encoder_parameters *p, encoder_shape shape,
                                      cudaStream_t stream);
/** @param grads are overwritten */
cudaError_t optimized_encoder_backward(void *grad_x, const encoder_parameters *grads, void *room,
                                       const void *grad_y, const void *x, const void *kept,
                                       const encoder_parameters *p, encoder_shape shape,
                                       cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
