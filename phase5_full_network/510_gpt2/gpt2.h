/*
 * gpt2.h: the contract of exercise 510. The conventions are in network.h.
 */
#ifndef COURSE_GPT2_H
#define COURSE_GPT2_H

#include "gpt_layout.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpt2 gpt2;

/**
 * A network of 508 for training, with AdamW's means at 0, for exactly this batch and sequence. All
 * memory is allocated here, and all work is over when it returns.
 *
 * Parameters, their gradients and all sums are fp32. Weights may be rounded to bf16 before they are
 * multiplied, activations and their gradients whenever they go to memory. No array has seq x seq
 * elements per head, or vocab elements per token.
 * @param net      receives the network, at step 0, or NULL on an error
 * @param h_params [gpt_params(config)], in the layout of gpt_layout.h
 * @return cudaErrorInvalidValue if gpt_config_is_valid returns 0, a head does not have 64 or 128
 *         channels, batch is below 1, or seq not in 1 .. context
 */
cudaError_t gpt2_create(gpt2 **net, const gpt_config *config, const float *h_params, int batch,
                        int seq);
/**
 * Does the work of gpt_forward, gpt_backward and gpt_update of 508, one after the other. It may
 * only enqueue its work on the stream and return. The same calls give the same bits.
 * @param d_loss    [1] the mean loss before the update; NULL when not wanted
 * @param d_tokens  [batch x seq], each in 0 .. vocab-1
 * @param d_targets [batch x seq] likewise
 * @param max_norm  as in gpt_update
 */
cudaError_t gpt2_train_step(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets,
                            float lr, float beta1, float beta2, float eps, float weight_decay,
                            float max_norm, cudaStream_t stream);
/** Both wait for the device, and copy [gpt_params(config)]. The gradients are those of the last
 *  step, after clipping; they are 0 for positions beyond seq, and before the first step. */
cudaError_t gpt2_get_grads(gpt2 *net, float *h_grads);
cudaError_t gpt2_get_params(gpt2 *net, float *h_params);
/** @return bytes of device memory that the network holds between two steps */
size_t gpt2_device_bytes(const gpt2 *net);
/** NULL is allowed. */
cudaError_t gpt2_free(gpt2 *net);

#ifdef __cplusplus
}
#endif

#endif
