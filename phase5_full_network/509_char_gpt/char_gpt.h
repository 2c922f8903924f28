/*
 * char_gpt.h: the contract of exercise 509. The conventions are in network.h.
 *
 * A text is `count` tokens. Its last count / 10 are for validation: no training window has one of
 * them, as token or as target. A window is `seq` tokens, and its targets are the tokens one place
 * later. AdamW has beta 0.9 and 0.95 and epsilon 1e-8. gpt_training is in gpt_layout.h.
 */
#ifndef COURSE_CHAR_GPT_H
#define COURSE_CHAR_GPT_H

#include "508_gpt/gpt.h"
#include "504_resnet18_cpu/resnet18_cpu.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The learning rate of step s = 0, 1, ...: (s + 1) / warmup of lr in the warmup; then half a
 * cosine from lr at s = warmup down to last_lr at s = steps; and last_lr from there on. */
float gpt_learning_rate(const gpt_training *training, int step);
/**
 * Makes `steps` more steps, from net->step on. Step s depends only on the network, the text and s:
 * window b of step s begins at number b of random_below(.., training tokens - seq), drawn from
 * random_seed(seed + s). So a run in parts, or from a checkpoint, is the same run.
 * @param h_losses [steps] the loss of each step, before its update
 * @param h_tokens [count]
 * @return cudaErrorInvalidValue, and does nothing, if no window fits into the training tokens,
 *         batch is below 1 or seq not in 1 .. context
 */
cudaError_t gpt_train(gpt *net, float *h_losses, const int *h_tokens, size_t count,
                      const gpt_training *training, int steps, cudaStream_t stream);
/**
 * The mean loss over the validation tokens, always in the same windows: side by side from the first
 * validation token, as many as have all their targets in the text.
 * @param batch windows at a time; the loss does not depend on it
 * @return as gpt_train, for the validation tokens
 */
cudaError_t gpt_validate(gpt *net, float *h_loss, const int *h_tokens, size_t count, int batch,
                         int seq, cudaStream_t stream);
/**
 * Generates `count` tokens that continue a prompt. The keys and values of all tokens read so far
 * are kept, so each token costs one row, not the whole text. When all positions are taken, the last
 * context / 2 tokens are read again from position 0, and the text continues after them. The network
 * does not change, nor does what gpt_backward needs.
 *
 * At temperature 0 the token is always that with the largest logit, the first of equals. Else it is
 * drawn: weights are softmax(logits / temperature), and token i of h_out is the first whose weight,
 * with those of all tokens before it in the vocabulary, exceeds u: number i of random_uniform(..,
 * 0, 1) from random_seed(seed).
 * @param h_out    [count]
 * @param h_prompt [prompt], at least 1 token
 * @return cudaErrorInvalidValue, and does nothing, for a temperature below 0 or an empty prompt
 */
cudaError_t gpt_generate(gpt *net, int *h_out, int count, const int *h_prompt, int prompt,
                         float temperature, unsigned long long seed, cudaStream_t stream);
/** Writes the whole checkpoint to memory. Waits for the device.
 *  @param h_file [gpt_checkpoint_bytes(&config)], at any address */
cudaError_t gpt_save(void *h_file, gpt *net);
/**
 * Loads parameters, m, v and step from a checkpoint. Nothing outside of h_file[bytes] is read, and
 * the network does not change unless the whole file is right.
 * @param h_status the first of these that applies: WEIGHTS_FOREIGN: no whole gpt_checkpoint, or
 *                 another magic or version; WEIGHTS_MISMATCH: a network of another shape;
 *                 WEIGHTS_TRUNCATED: shorter or longer than its shape needs; WEIGHTS_CORRUPT: the
 *                 checksum is wrong; WEIGHTS_OK
 * @param h_file   at any address
 * @return cudaErrorInvalidValue unless the status is WEIGHTS_OK
 */
cudaError_t gpt_load(gpt *net, weights_status *h_status, const void *h_file, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
