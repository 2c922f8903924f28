/*
 * 508_gpt.cu: a GPT on the GPU, forward, backward and one step of AdamW, from your own layers.
 *
 * The idea: x, a row of channels for each token, runs through the network on one path, and every
 * layer only adds to it. So the backward pass has one running gradient too: grad_x goes back along
 * that path, and each half of a layer, a branch, adds what comes back through it:
 *
 *     forward    x ─┬─ ln1 ─ qkv ─ attention ─ proj ─ + ─┬─ ln2 ─ fc ─ gelu ─ fcproj ─ + ─ x
 *                   └─────────────────────────────────┘  └─────────────────────────────┘
 *     backward   grad_x += ln1'(qkv'(attention'(proj'(grad_x))))     after grad_x += ln2'( ... )
 *
 * Attention needs whole heads, [batch, heads, seq, dim], and a linear layer makes rows of a token,
 * [batch, seq, 3, heads, dim]. The one kernel here takes rows apart into heads, and the other way
 * round puts heads together.
 *
 * The table wte is used at both ends, and its gradient is the sum of both: first the product of the
 * logits writes it, then the embedding adds to it. In the other order the product would overwrite
 * the embedding's part.
 *
 * What it costs: 16 activations of [tokens x channels] are kept per layer, so that nothing but the
 * probabilities is computed twice, and logits and their gradient, [tokens x vocab] each. And
 * attention keeps a square of seq x seq for each head while it runs, which 409 avoids.
 */
#include "208_reduce/reduce.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "305_cross_entropy/cross_entropy.h"
#include "311_layernorm/layernorm.h"
#include "312_embedding/embedding.h"
#include "313_attention/attention.h"
#include "314_adam/adam.h"
#include "508_gpt/gpt.h"
#include "cuda_check.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Of one layer; n is batch x seq, C is channels. All of it is kept for the backward pass. */
typedef struct layer_activations {
    float *ln1;           /* [n x C] */
    float *mean1, *rstd1; /* [n] each */
    float *qkv;           /* [3 x batch x heads x seq x dim]: all queries, all keys, all values */
    float *attention;     /* [n x C], heads put together */
    float *middle;        /* [n x C] x between the two branches */
    float *ln2;           /* [n x C] */
    float *mean2, *rstd2; /* [n] each */
    float *fc, *gelu;     /* [n x 4C] each */
    float *x;             /* [n x C] x behind the layer */
} layer_activations;

struct gpt_activations {
    int batch, seq;  /* of the last forward pass; 0: there was none */
    int has_targets; /* had it? */
    float *norm;     /* [1] of the gradients */

    float *memory; /* [floats] of which all that follows are parts, for the batch in hand */
    size_t floats;
    layer_activations *layers; /* [layers], on the host */
    int *tokens;        /* [n] copies: the caller's may be gone when the backward pass runs */
    float *x;           /* [n x C] what the first layer reads */
    float *lnf;         /* [n x C] */
    float *mean, *rstd; /* [n] each, of lnf */
    float *logits;      /* [n x V] */
    float *grad_logits; /* [n x V] */
    float *losses;      /* [n] */

    /* For a moment, in both passes: */
    float *rows;                       /* [n x 4C] rows of tokens */
    float *heads;                      /* [batch x heads x seq x dim] */
    float *grad_qkv;                   /* [3 x batch x heads x seq x dim] */
    float *grad_x, *grad_y, *grad_sum; /* [n x C] each */
};

/* @return the place of the next `count` floats, aligned as if it came from cudaMalloc; without
 * memory they are only counted. */
static float *take(float *memory, size_t *used, size_t count)
{
    float *taken = memory == NULL ? NULL : memory + *used;
    *used += (count + 63) / 64 * 64;
    return taken;
}

static void lay_out_layer(layer_activations *l, float *memory, size_t *used, size_t n, size_t width)
{
    l->ln1 = take(memory, used, width);
    l->mean1 = take(memory, used, n);
    l->rstd1 = take(memory, used, n);
    l->qkv = take(memory, used, 3 * width);
    l->attention = take(memory, used, width);
    l->middle = take(memory, used, width);
    l->ln2 = take(memory, used, width);
    l->mean2 = take(memory, used, n);
    l->rstd2 = take(memory, used, n);
    l->fc = take(memory, used, 4 * width);
    l->gelu = take(memory, used, 4 * width);
    l->x = take(memory, used, width);
}

/* @return floats of all */
static size_t lay_out(gpt_activations *a, float *memory, const gpt_config *c, size_t n)
{
    size_t used = 0, width = n * c->channels, scores = n * c->vocab;
    for (int i = 0; i < c->layers; i++) lay_out_layer(&a->layers[i], memory, &used, n, width);
    a->tokens = (int *)take(memory, &used, n);
    a->x = take(memory, &used, width);
    a->lnf = take(memory, &used, width);
    a->mean = take(memory, &used, n);
    a->rstd = take(memory, &used, n);
    a->logits = take(memory, &used, scores);
    a->grad_logits = take(memory, &used, scores);
    a->losses = take(memory, &used, n);
    a->rows = take(memory, &used, 4 * width);
    a->heads = take(memory, &used, width);
    a->grad_qkv = take(memory, &used, 3 * width);
    a->grad_x = take(memory, &used, width);
    a->grad_y = take(memory, &used, width);
    a->grad_sum = take(memory, &used, width);
    return used;
}

/* Room for n tokens. It stays, so that only the largest batch allocates. */
static cudaError_t reserve(gpt *net, size_t n)
{
    gpt_activations *a = net->activations;
    size_t floats = lay_out(a, NULL, &net->config, n);
    if (floats > a->floats) {
        a->floats = 0;
        CUDA_CHECK(cudaFree(a->memory)); /* waits for kernels that use it */
        a->memory = NULL;
        CUDA_CHECK(cudaMalloc((void **)&a->memory, floats * sizeof(float)));
        a->floats = floats;
    }
    lay_out(a, a->memory, &net->config, n);
    return cudaSuccess;
}

/* Thread i has element i of rows [batch x seq x parts x heads x dim], and its place in heads
 * [parts x batch x heads x seq x dim]. SPLIT: from is rows, to is heads. Otherwise from is heads,
 * to is rows. n is their size. */
template <bool SPLIT>
__global__ static void heads_kernel(float *to, const float *from, size_t n, int parts, int batch,
                                    int seq, int heads, int dim)
{
    /* TODO: guard i. Take it apart from the right, into d, head, part, t and b; put the place
       in heads together from them; copy one float the one way or the other (about 13 lines). */
}

template <bool SPLIT>
static cudaError_t move_heads(float *to, const float *from, int parts, const gpt *net,
                              cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    int batch = net->activations->batch, seq = net->activations->seq;
    size_t n = (size_t)parts * batch * seq * c->channels;
    heads_kernel<SPLIT><<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(
        to, from, n, parts, batch, seq, c->heads, c->channels / c->heads);
    return cudaGetLastError();
}

/* heads [parts x batch x heads x seq x dim] of rows [n x parts x C]. */
static cudaError_t split_heads(float *heads, const float *rows, int parts, const gpt *net,
                               cudaStream_t stream)
{
    return move_heads<true>(heads, rows, parts, net, stream);
}

/* The way back: rows [n x parts x C] of heads. */
static cudaError_t merge_heads(float *rows, const float *heads, int parts, const gpt *net,
                               cudaStream_t stream)
{
    return move_heads<false>(rows, heads, parts, net, stream);
}

/* l->attention [n x C] = attention of the rows [n x 3C] in a->rows. */
static cudaError_t attention_forward(const gpt *net, const layer_activations *l,
                                     cudaStream_t stream)
{
    /* TODO: split the rows into l->qkv: queries, then keys, then values, each n x C floats;
       causal attention of these to a->heads, scaled by 1 / sqrt(dim) (313); merge that to
       l->attention (about 7 lines). */
    NOT_IMPLEMENTED(net, l, stream);
    return cudaSuccess;
}

/* a->rows [n x 3C] = the gradient of queries, keys and values, from a->grad_y [n x C]. */
static cudaError_t attention_backward(const gpt *net, const layer_activations *l,
                                      cudaStream_t stream)
{
    /* TODO: split a->grad_y into a->heads; 313's backward pass, from l->qkv, to a->grad_qkv,
       which is laid out as l->qkv; merge its three parts to a->rows (about 9 lines). */
    NOT_IMPLEMENTED(net, l, stream);
    return cudaSuccess;
}

/* Both branches of one layer, from x [n x C] to l->x. What backward needs stays in l. */
static cudaError_t layer_forward(const gpt *net, const float *x, int layer, cudaStream_t stream)
{
    /* TODO: ln1, qkv into a->rows [n x 3C], attention_forward, proj into a->rows, and the sum
       with x to l->middle; then ln2, fc, gelu, fcproj into a->rows, and the sum with l->middle to
       l->x. gpt_layer_at says where the layer's parameters begin (about 20 lines). */
    NOT_IMPLEMENTED(net, x, layer, stream);
    return cudaSuccess;
}

/* a->grad_x [n x C], the gradient of l->x at first, becomes that of x. Those of the layer's
 * parameters go to their places in net->grad. */
static cudaError_t layer_backward(const gpt *net, const float *x, int layer, cudaStream_t stream)
{
    /* TODO: the second branch back: fcproj and gelu in a->rows [n x 4C], fc to a->grad_y, ln2
       to a->grad_sum, which is added to a->grad_x. Then the first in the same way: proj to
       a->grad_y, attention_backward, which leaves a->rows [n x 3C], qkv, ln1 (about 23 lines). */
    NOT_IMPLEMENTED(net, x, layer, stream);
    if (net->layer_done != NULL) CUDA_CHECK(cudaEventRecord(net->layer_done[layer], stream));
    return cudaSuccess;
}

/* @return what a layer reads, [n x C]; of number `layers`: what the last normalization reads */
static const float *before(const gpt_activations *a, int layer)
{
    return layer == 0 ? a->x : a->layers[layer - 1].x;
}

__global__ static void scale_kernel(float *x, float factor)
{
    *x *= factor;
}

/* a->losses[n]; a->grad_logits [n x vocab], which the backward pass begins with; and the mean of
 * the losses to d_loss[1], unless that is NULL. */
static cudaError_t loss_forward(const gpt *net, float *d_loss, const float *logits,
                                const int *d_targets, cudaStream_t stream)
{
    /* TODO: losses and gradient (305, no target is ignored: -1); their sum by 208, and
       scale_kernel with one thread makes the mean of it (about 7 lines). */
    NOT_IMPLEMENTED(net, d_loss, logits, d_targets, stream);
    return cudaGetLastError();
}

/* All that a new network needs. */
static cudaError_t set_up(gpt *net, const float *h_params)
{
    size_t bytes = gpt_params(&net->config) * sizeof(float);
    float **arrays[] = {&net->params, &net->grad, &net->m, &net->v};
    net->activations = (gpt_activations *)calloc(1, sizeof *net->activations);
    if (net->activations == NULL) return cudaErrorMemoryAllocation;
    net->activations->layers =
        (layer_activations *)calloc(net->config.layers, sizeof *net->activations->layers);
    if (net->activations->layers == NULL) return cudaErrorMemoryAllocation;
    for (int i = 0; i < 4; i++) {
        CUDA_CHECK(cudaMalloc((void **)arrays[i], bytes));
        CUDA_CHECK(cudaMemset(*arrays[i], 0, bytes));
    }
    CUDA_CHECK(cudaMalloc((void **)&net->activations->norm, sizeof(float)));
    CUDA_CHECK(cudaMemcpy(net->params, h_params, bytes, cudaMemcpyHostToDevice));
    /* All of that used the default stream, for which the caller's streams need not wait. */
    CUDA_CHECK(cudaDeviceSynchronize());
    return cudaSuccess;
}

cudaError_t gpt_create(gpt **net, const gpt_config *config, const float *h_params)
{
    *net = NULL;
    if (!gpt_config_is_valid(config)) return cudaErrorInvalidValue;
    gpt *created = (gpt *)calloc(1, sizeof *created);
    if (created == NULL) return cudaErrorMemoryAllocation;
    created->config = *config;
    cudaError_t error = set_up(created, h_params);
    if (error != cudaSuccess) {
        gpt_free(created);
        return error;
    }
    *net = created;
    return cudaGetLastError();
}

cudaError_t gpt_forward(gpt *net, float *d_loss, float *d_logits, const int *d_tokens,
                        const int *d_targets, int batch, int seq, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    gpt_activations *a = net->activations;
    if (batch < 1 || seq < 1 || seq > c->context || batch > INT_MAX / seq)
        return cudaErrorInvalidValue;
    int n = batch * seq;
    a->batch = a->seq = a->has_targets = 0; /* nothing to go back from, if anything here fails */
    CUDA_CHECK(reserve(net, (size_t)n));
    a->batch = batch;
    a->seq = seq;
    CUDA_CHECK(
        cudaMemcpyAsync(a->tokens, d_tokens, n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    /* TODO: the embedding of a->tokens to a->x (312; wte lies at net->params, wpe at gpt_wpe);
       the layers in order; the last normalization to a->lnf; the product with wte to d_logits, or
       to a->logits where the caller wants none; the loss where there are targets (about 9 lines).
     */
    NOT_IMPLEMENTED(net, d_loss, d_logits, d_tokens, d_targets, batch, seq, stream);
    a->has_targets = d_targets != NULL;
    return cudaGetLastError();
}

cudaError_t gpt_backward(gpt *net, cudaStream_t stream)
{
    const gpt_activations *a = net->activations;
    if (!a->has_targets) return cudaErrorInvalidValue;
    /* TODO: from a->grad_logits through the product with wte to a->grad_y, and through the last
       normalization to a->grad_x; the layers from the last to the first; the embedding, which adds
       to wte's gradient. Positions from seq on had no part in it: in wpe their gradient is 0 (about
       15 lines). */
    NOT_IMPLEMENTED(net, stream);
    return cudaGetLastError();
}

/* Arrays with weight decay, and arrays without: neighbours of one kind are one group of 314.
 * @return how many groups; there is room for as many as there are arrays */
static int decay_groups(adam_group *groups, const gpt_config *c, float weight_decay)
{
    int count = 0, kind = -1;
    for (int i = 0; i < gpt_arrays(c); i++) {
        gpt_array array = gpt_array_at(c, i);
        if (array.matrix != kind) {
            kind = array.matrix;
            groups[count].n = 0;
            groups[count++].weight_decay = kind ? weight_decay : 0.0f;
        }
        groups[count - 1].n += array.rows * array.cols;
    }
    return count;
}

cudaError_t gpt_update(gpt *net, float lr, float beta1, float beta2, float eps, float weight_decay,
                       float max_norm, cudaStream_t stream)
{
    /* TODO: where max_norm is above 0, clip all gradients together (314; the norm goes to
       net->activations->norm); room on the host for gpt_arrays groups; decay_groups; Adam with
       these groups takes step number net->step + 1, which counts once it succeeded (about 11
       lines). */
    NOT_IMPLEMENTED(net, lr, beta1, beta2, eps, weight_decay, max_norm, stream);
    return cudaGetLastError();
}

static cudaError_t fetch(const gpt *net, float *h_array, const float *array)
{
    CUDA_CHECK(cudaDeviceSynchronize()); /* no stream is given: wait for all of them */
    CUDA_CHECK(cudaMemcpy(h_array, array, gpt_params(&net->config) * sizeof(float),
                          cudaMemcpyDeviceToHost));
    return cudaSuccess;
}

cudaError_t gpt_get_grads(gpt *net, float *h_grads)
{
    CUDA_CHECK(fetch(net, h_grads, net->grad));
    return cudaGetLastError();
}

cudaError_t gpt_get_params(gpt *net, float *h_params)
{
    CUDA_CHECK(fetch(net, h_params, net->params));
    return cudaGetLastError();
}

cudaError_t gpt_free(gpt *net)
{
    if (net == NULL) return cudaSuccess; /* and any part may be missing where gpt_create failed */
    float *d_buffers[] = {net->params, net->grad, net->m, net->v};
    for (size_t i = 0; i < sizeof d_buffers / sizeof d_buffers[0]; i++) cudaFree(d_buffers[i]);
    if (net->activations != NULL) {
        cudaFree(net->activations->memory);
        cudaFree(net->activations->norm);
        free(net->activations->layers);
        free(net->activations);
    }
    free(net);
    return cudaGetLastError();
}
