/*
 * fast.c: gpt_train on tensor cores (make gpt FAST=1): the steps are 510's, whose network is made
 * of 509's at the first of them, and afterwards the parameters go back, for 509 to validate, sample
 * and save. Windows, rates and what a step does are those of gpt_train, in bf16.
 *
 * AdamW's means stay in 510's network. So a checkpoint of such a run has none, and the run cannot
 * be resumed.
 */
#include "../program.h"
#include "cuda_check.h"
#include "progress.h"
#include "random.h"

#include <stdlib.h>

#define LOOK_EVERY 50 /* steps: each look waits for the device */

static struct {
    gpt2 *net;
    float *params; /* [gpt_params], on the host */
    int *tokens;   /* [batch x (seq + seq)]: windows, and their targets */
    int *d_tokens; /* the same on the device */
    float *d_loss;
} kept; /* one network a program */

static cudaError_t begin(const gpt *net, const gpt_training *t)
{
    const size_t tokens = 2 * (size_t)t->batch * (size_t)t->seq;
    if (net->step > 0) return cudaErrorInvalidValue; /* resumed: its means are lost */
    kept.params = malloc(gpt_params(&net->config) * sizeof *kept.params);
    if (kept.params == NULL) return cudaErrorMemoryAllocation;
    CUDA_CHECK(cudaMallocHost((void **)&kept.tokens, tokens * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&kept.d_tokens, tokens * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&kept.d_loss, sizeof(float)));
    CUDA_CHECK(cudaMemcpy(kept.params, net->params, gpt_params(&net->config) * sizeof(float),
                          cudaMemcpyDeviceToHost));
    return gpt2_create(&kept.net, &net->config, kept.params, t->batch, t->seq);
}

/* The windows of a step, as network.h says of gpt_train. */
static void draw(const gpt_training *t, const int *h_text, size_t choices, int step)
{
    random_state rng = random_seed(t->seed + (unsigned long long)step);
    int *targets = kept.tokens + (size_t)t->batch * (size_t)t->seq;
    for (int b = 0; b < t->batch; b++) {
        const int *window = h_text + random_below(&rng, choices);
        for (int i = 0; i < t->seq; i++) {
            kept.tokens[b * t->seq + i] = window[i];
            targets[b * t->seq + i] = window[i + 1];
        }
    }
}

static cudaError_t train_step(const gpt_training *t, int step, float *h_loss)
{
    const size_t half = (size_t)t->batch * (size_t)t->seq;
    CUDA_CHECK(
        cudaMemcpy(kept.d_tokens, kept.tokens, 2 * half * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(gpt2_train_step(kept.net, kept.d_loss, kept.d_tokens, kept.d_tokens + half,
                               gpt_learning_rate(t, step), 0.9f, 0.95f, 1e-8f, t->weight_decay,
                               t->max_norm, 0));
    return h_loss ? cudaMemcpy(h_loss, kept.d_loss, sizeof *h_loss, cudaMemcpyDeviceToHost)
                  : cudaSuccess;
}

static cudaError_t train_fast(gpt *net, float *h_losses, const int *h_tokens, size_t count,
                              const gpt_training *t, int steps, cudaStream_t stream)
{
    const size_t training = count - count / 10;
    (void)stream; /* one after the other, on the default stream */
    if (training <= (size_t)t->seq) return cudaErrorInvalidValue;
    if (kept.net == NULL) CUDA_CHECK(begin(net, t));
    progress bar = progress_begin_quiet("steps of 510", steps);
    for (int i = 0; i < steps; i++) {
        draw(t, h_tokens, training - (size_t)t->seq, net->step);
        CUDA_CHECK(train_step(t, net->step++, h_losses + i));
        if ((i + 1) % LOOK_EVERY == 0) progress_step(&bar, i + 1, "loss %.3f", h_losses[i]);
    }
    progress_end(&bar, "learned");
    CUDA_CHECK(gpt2_get_params(kept.net, kept.params));
    return cudaMemcpy(net->params, kept.params, gpt_params(&net->config) * sizeof(float),
                      cudaMemcpyHostToDevice);
}

static cudaError_t release(gpt *net)
{
    gpt2_free(kept.net);
    free(kept.params);
    cudaFreeHost(kept.tokens);
    cudaFree(kept.d_tokens);
    cudaFree(kept.d_loss);
    return gpt_free(net);
}

const gpt_functions *functions_fast(void)
{
    static const gpt_functions fast = {gpt_create, train_fast, gpt_validate, gpt_generate,
                                       gpt_save,   gpt_load,   release};
    return &fast;
}
