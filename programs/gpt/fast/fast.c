/*
 * fast.c: training on tensor cores (make gpt FAST=1): the steps are 510's, whose network is made of
 * 508's at the first of them. After some steps all goes back to 508's network, for 509 to validate,
 * sample and save.
 *
 * AdamW's means are part of a checkpoint, but 510's contract does not give them. They are read
 * where 510 updates by 314: the linker puts a function of this file in that place (--wrap, in
 * programs.mk).
 */
#include "../program.h"
#include "cuda_check.h"
#include "layers.h"

#include <stdlib.h>
#include <string.h>

static struct {
    gpt2 *net;
    gpt *of;       /* what it was made of: */
    int began;     /* at this step */
    float *m, *v;  /* [gpt_params] the means of net, once they were seen */
    float *params; /* [gpt_params], on the host */
    int *tokens;   /* [batch x (seq + seq)]: windows, and their targets */
    int *d_tokens; /* the same on the device */
    float *d_loss;
} kept; /* one network a program */

static size_t bytes_of_params(void)
{
    return gpt_params(&kept.of->config) * sizeof(float);
}

cudaError_t __real_adam_update_groups(float *, float *, float *, const float *, const adam_group *,
                                      int, float, float, float, float, int, cudaStream_t);

/* Is this 510's update, of all parameters at once? */
static bool is_whole(const adam_group *groups, int count)
{
    size_t n = 0;
    for (int i = 0; i < count; i++) n += groups[i].n;
    return kept.net && n == gpt_params(&kept.of->config);
}

/* Before 510's first update in a run that goes on, its means become those of the checkpoint. */
cudaError_t __wrap_adam_update_groups(float *param, float *m, float *v, const float *grad,
                                      const adam_group *groups, int count, float lr, float beta1,
                                      float beta2, float eps, int step, cudaStream_t stream)
{
    if (!kept.m && is_whole(groups, count)) {
        const size_t bytes = bytes_of_params();
        CUDA_CHECK(cudaMemcpyAsync(m, kept.of->m, bytes, cudaMemcpyDeviceToDevice, stream));
        CUDA_CHECK(cudaMemcpyAsync(v, kept.of->v, bytes, cudaMemcpyDeviceToDevice, stream));
        kept.m = m, kept.v = v;
    }
    return __real_adam_update_groups(param, m, v, grad, groups, count, lr, beta1, beta2, eps,
                                     step + kept.began, stream);
}

static cudaError_t begin(gpt *net, const gpt_training *t)
{
    const size_t tokens = 2 * (size_t)t->batch * (size_t)t->seq;
    kept.of = net, kept.began = net->step;
    kept.params = malloc(bytes_of_params());
    if (kept.params == NULL) return cudaErrorMemoryAllocation;
    CUDA_CHECK(cudaMallocHost((void **)&kept.tokens, tokens * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&kept.d_tokens, tokens * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&kept.d_loss, sizeof(float)));
    CUDA_CHECK(cudaMemcpy(kept.params, net->params, bytes_of_params(), cudaMemcpyDeviceToHost));
    return gpt2_create(&kept.net, &net->config, kept.params, t->batch, t->seq);
}

static cudaError_t step(gpt *net, float *h_loss, const int *text, const size_t *begins,
                        const gpt_training *t)
{
    const size_t seq = (size_t)t->seq, half = (size_t)t->batch * seq;
    if (kept.net == NULL) CUDA_CHECK(begin(net, t));
    for (int b = 0; b < t->batch; b++) {
        memcpy(kept.tokens + b * seq, text + begins[b], seq * sizeof(int));
        memcpy(kept.tokens + half + b * seq, text + begins[b] + 1, seq * sizeof(int));
    }
    CUDA_CHECK(
        cudaMemcpy(kept.d_tokens, kept.tokens, 2 * half * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(gpt2_train_step(kept.net, kept.d_loss, kept.d_tokens, kept.d_tokens + half,
                               gpt_learning_rate(t, net->step++), 0.9f, 0.95f, 1e-8f,
                               t->weight_decay, t->max_norm, 0));
    if (kept.began > 0 && !kept.m) {
        fputs("gpt: --resume: your 510 does not update by 314, all at once: its means cannot be "
              "set\n",
              stderr);
        return cudaErrorNotSupported;
    }
    return cudaMemcpy(h_loss, kept.d_loss, sizeof *h_loss, cudaMemcpyDeviceToHost);
}

/* Parameters and means go back; before the first step 508's network has them. */
static cudaError_t give_back(gpt *net)
{
    if (kept.net == NULL) return cudaSuccess;
    CUDA_CHECK(gpt2_get_params(kept.net, kept.params));
    CUDA_CHECK(cudaMemcpy(net->params, kept.params, bytes_of_params(), cudaMemcpyHostToDevice));
    if (!kept.m) return cudaSuccess;
    CUDA_CHECK(cudaMemcpy(net->m, kept.m, bytes_of_params(), cudaMemcpyDeviceToDevice));
    return cudaMemcpy(net->v, kept.v, bytes_of_params(), cudaMemcpyDeviceToDevice);
}

/* It comes after some steps, and before a sample or a checkpoint. */
static cudaError_t validate(gpt *net, float *h_loss, const int *h_tokens, size_t count, int batch,
                            int seq, cudaStream_t stream)
{
    CUDA_CHECK(give_back(net));
    return gpt_validate(net, h_loss, h_tokens, count, batch, seq, stream);
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
    static const gpt_functions fast = {.create = gpt_create,
                                       .step = step,
                                       .validate = validate,
                                       .generate = gpt_generate,
                                       .save = gpt_save,
                                       .load = gpt_load,
                                       .release = release,
                                       .bytes = bytes_on_gpu};
    return &fast;
}
