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

/** A network. Its arrays are device memory, [gpt_params(&config)] each. 509 reads and writes them,
 *  on streams of its own, so that whoever creates a network has waited for the device. */
typedef struct gpt {
    gpt_config config;
    int step; /**< updates so far */
    float *params;
    float *grad;  /**< of the mean loss, as gpt_backward left it; at first 0 */
    float *m, *v; /**< Adam's running means; at first 0 */
    struct gpt_activations *activations; /**< 508's own: what it needs besides */
    cudaEvent_t *layer_done; /**< [layers], or NULL, as it is at first: gpt_backward records event i
                                  when the gradients of layer i are complete; 513 waits for it */
} gpt;

/**
 * @param net      receives the network, at step 0, or NULL on an error
 * @param h_params [gpt_params(config)], as gpt_layout.h lays them out
 * @return cudaErrorInvalidValue where gpt_config_is_valid says no
 */
cudaError_t gpt_create(gpt **net, const gpt_config *config, const float *h_params);
/**
 * Logits of every position, and how well they foretell the targets. What the backward pass needs
 * stays with the network; the tokens and targets may change as soon as the stream is past this
 * call. A batch and sequence larger than any before may allocate.
 * @param d_loss    [1] the mean of -log softmax(logits)[target] over all positions; NULL when not
 *                  wanted
 * @param d_logits  [batch x seq x vocab]; NULL when not wanted
 * @param d_tokens  [batch x seq], each in 0 .. vocab-1
 * @param d_targets [batch x seq] likewise; NULL: without a loss, and d_loss is left alone
 * @return cudaErrorInvalidValue, and does nothing, unless batch >= 1 and 1 <= seq <= context
 */
cudaError_t gpt_forward(gpt *net, float *d_loss, float *d_logits, const int *d_tokens,
                        const int *d_targets, int batch, int seq, cudaStream_t stream);
/**
 * The gradients of the mean loss of the last forward pass; those of earlier ones are overwritten.
 * @return cudaErrorInvalidValue, and does nothing, where that pass had no targets, or there was
 *         none
 */
cudaError_t gpt_backward(gpt *net, cudaStream_t stream);
/**
 * One step of AdamW (314), whose number is step + 1. Weight decay pulls at the matrices alone, as
 * gpt_array_at calls them; biases and normalizations stay without.
 * @param max_norm the gradients are scaled, in place, so that the L2 norm of all of them together
 *                 is at most this; 0: they are left as they are
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
