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
 * Attention wants whole heads, [batch, heads, seq, dim], and a linear layer makes rows of a token,
 * [batch, seq, 3, heads, dim]. The one kernel here takes rows apart into heads, and the other way
 * round puts heads together.
 *
 * The table wte is used at both ends, and its gradient is the sum of both: first the product of the
 * logits writes it, then the embedding adds to it. In any other order the product would wipe out
 * what the embedding did.
 *
 * What it costs: 16 activations of [tokens x channels] are kept a layer, so that nothing but the
 * probabilities is computed twice, and logits and their gradient, [tokens x vocab] each. And
 * attention keeps a square of seq x seq for each head while it runs, which 409 does without.
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

/* TODO: helpers: lay_out, which gives every activation its place, and reserve, which makes room
   for a batch and keeps it (about 57 lines). */

/* TODO: heads_kernel: element i of rows [batch x seq x parts x heads x dim] is taken to, or
   from, its place in [parts x batch x heads x seq x dim]; and its launches, split_heads and
   merge_heads (about 40 lines). */

/* TODO: attention and its backward pass, from rows to rows (about 26 lines). */

/* TODO: layer_forward: both branches of one layer, from x to l->x (about 25 lines). */

/* TODO: layer_backward: grad_x, of l->x at first, becomes that of x (about 27 lines). */

/* TODO: before, what a layer reads; loss_forward: losses, their mean, and the gradient of the
   logits, which the backward pass begins with (about 20 lines). */

/* TODO: set_up: all that a new network needs, which has waited for the device (about 20 lines).
 */

cudaError_t gpt_create(gpt **net, const gpt_config *config, const float *h_params)
{
    *net = NULL;
    /* TODO: a zeroed struct, set up; nothing is left behind on an error (about 10 lines). */
    NOT_IMPLEMENTED(net, config, h_params);
    return cudaGetLastError();
}

cudaError_t gpt_forward(gpt *net, float *d_loss, float *d_logits, const int *d_tokens,
                        const int *d_targets, int batch, int seq, cudaStream_t stream)
{
    /* TODO: sizes, room, a copy of the tokens; embedding, layers, the last normalization, the
       product with wte; the loss where there are targets (about 23 lines). */
    NOT_IMPLEMENTED(net, d_loss, d_logits, d_tokens, d_targets, batch, seq, stream);
    return cudaGetLastError();
}

cudaError_t gpt_backward(gpt *net, cudaStream_t stream)
{
    /* TODO: the product with wte, the last normalization, layers from the last to the first;
       the embedding adds to wte's gradient. Positions behind seq had no part in it: theirs is 0
       (about 20 lines). */
    NOT_IMPLEMENTED(net, stream);
    return cudaGetLastError();
}

/* TODO: decay_groups: neighbours of one kind are one group (about 14 lines). */

cudaError_t gpt_update(gpt *net, float lr, float beta1, float beta2, float eps, float weight_decay,
                       float max_norm, cudaStream_t stream)
{
    /* TODO: clip, then Adam with its groups (about 14 lines). */
    NOT_IMPLEMENTED(net, lr, beta1, beta2, eps, weight_decay, max_norm, stream);
    return cudaGetLastError();
}

/* TODO: fetch: wait for every stream, since none is given, and copy (about 6 lines). */

cudaError_t gpt_get_grads(gpt *net, float *h_grads)
{
    /* TODO: fetch (1 line). */
    NOT_IMPLEMENTED(net, h_grads);
    return cudaGetLastError();
}

cudaError_t gpt_get_params(gpt *net, float *h_params)
{
    /* TODO: fetch (1 line). */
    NOT_IMPLEMENTED(net, h_params);
    return cudaGetLastError();
}

cudaError_t gpt_free(gpt *net)
{
    /* TODO: every buffer, the activations, the struct; any of them may be missing where
       gpt_create failed (about 13 lines). */
    NOT_IMPLEMENTED(net);
    return cudaGetLastError();
}
