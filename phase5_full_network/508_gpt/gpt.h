/*
 * gpt.h: the contract of exercise 508. The conventions are in network.h.
 */
#ifndef COURSE_GPT_H
#define COURSE_GPT_H

#include "gpt_layout.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A network. Its arrays are device memory, [gpt_params(&config)] each. 509 reads and writes them
 *  on streams of its own, so gpt_create waits for the device. */
typedef struct gpt {
    gpt_config config;
    int step; /**< updates so far */
    float *params;
    float *grad;  /**< of the mean loss, as gpt_backward left it; at first 0 */
    float *m, *v; /**< Adam's running means; at first 0 */
    struct gpt_activations *activations; /**< private to 508 */
    cudaEvent_t *layer_done; /**< [layers], or NULL, as it is at first: gpt_backward records event i
                                  when the gradients of layer i are complete; 513 waits for it */
} gpt;

/**
 * @param net      receives the network, at step 0, or NULL on an error
 * @param h_params [gpt_params(config)], in the layout of gpt_layout.h
 * @return cudaErrorInvalidValue if gpt_config_is_valid returns 0
 */
cudaError_t gpt_create(gpt **net, const gpt_config *config, const float *h_params);
/**
 * The logits of every position, and their loss for the targets. The network keeps what the backward
 * pass needs; the tokens and targets may change once the work of this call is done. A larger batch
 * and sequence than any before may allocate.
 * @param d_loss    [1] the mean of -log softmax(logits)[target] over all positions; NULL when not
 *                  wanted
 * @param d_logits  [batch x seq x vocab]; NULL when not wanted
 * @param d_tokens  [batch x seq], each in 0 .. vocab-1
 * @param d_targets [batch x seq] likewise; NULL: no loss, and d_loss is not written
 * @return cudaErrorInvalidValue, and does nothing, unless batch >= 1 and 1 <= seq <= context
 */
cudaError_t gpt_forward(gpt *net, float *d_loss, float *d_logits, const int *d_tokens,
                        const int *d_targets, int batch, int seq, cudaStream_t stream);
/**
 * The gradients of the mean loss of the last forward pass; earlier gradients are overwritten.
 * @return cudaErrorInvalidValue, and does nothing, if that pass had no targets, or there was no
 *         pass
 */
cudaError_t gpt_backward(gpt *net, cudaStream_t stream);
/**
 * One step of AdamW (314), whose number is step + 1. Weight decay applies only to matrices
 * (gpt_array_at says which arrays are), not to biases and normalizations.
 * @param max_norm the gradients are scaled, in place, so that the L2 norm of all of them together
 *                 is at most this; 0: they are not scaled
 */
cudaError_t gpt_update(gpt *net, float lr, float beta1, float beta2, float eps, float weight_decay,
                       float max_norm, cudaStream_t stream);
/** Both wait for the device, and copy [gpt_params(&config)]. */
cudaError_t gpt_get_grads(gpt *net, float *h_grads);
cudaError_t gpt_get_params(gpt *net, float *h_params);
/** NULL is allowed. */
cudaError_t gpt_free(gpt *net);

#ifdef __cplusplus
}
#endif

#endif
