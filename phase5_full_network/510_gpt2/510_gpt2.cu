/*
 * 510_gpt2.cu: a training step of GPT-2 that is fast: 508's network on tensor cores.
 *
 * The idea: nearly all arithmetic is in products, so these go to tensor cores in bf16 with sums in
 * fp32; and then everything else is memory traffic, so whatever can be done to a number before it
 * leaves a register is done there.
 *
 *   510_product.cuh   the three products of a linear layer; bias, residual, GELU and its slope are
 *                     applied to the sums
 *   510_rows.cuh      layer normalization, and the gradients of biases
 *   510_tokens.cuh    rows for tokens, the loss in place, heads
 *   4c and 4d         attention, which keeps no square of seq x seq
 *   314 and 3a        AdamW in its groups; the gradient of the table, always in the same order
 *
 * Two copies of the parameters: AdamW's steps are far smaller than what bf16 can tell apart, so it
 * updates fp32, and after each step the weights are rounded for the products. Gradients of weights
 * are fp32, activations and their gradients bf16; its exponents are those of fp32, so that no
 * gradient has to be scaled against underflow.
 *
 * All memory is one arena, laid out when the network is made for its batch and sequence: a step
 * allocates nothing of its own. Of a layer 16 activations of [tokens x channels] are kept, half as
 * large as 508's; logits exist for a quarter of the tokens at a time, and become their gradient.
 *
 * The cost left: what 4c and 4d want by heads is moved there and back, 16 times [tokens x channels]
 * a layer; and no kernel begins before the one before it has ended.
 */
#include "208_reduce/reduce.h"
#include "314_adam/adam.h"
#include "3a_deterministic_backward/deterministic_backward.h"
#include "4c_flash_attention2/flash_attention2.h"
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include "510_gpt2/gpt2.h"
#include "510_tokens.cuh"

#include <limits.h>
#include <stdlib.h>

/* Of one layer; n is batch x seq, C is channels. All of it is kept for the backward pass. */
typedef struct layer_activations {
    bf16 *ln1;            /* [n x C] */
    float *mean1, *rstd1; /* [n] each */
    bf16 *qkv;            /* [3 x batch x heads x seq x dim]: all queries, all keys, all values */
    bf16 *attention;      /* [batch x heads x seq x dim] */
    float *lse;           /* [batch x heads x seq] */
    bf16 *middle;         /* [n x C] x between the two branches */
    bf16 *ln2;            /* [n x C] */
    float *mean2, *rstd2; /* [n] each */
    bf16 *fc, *gelu;      /* [n x 4C] each */
    bf16 *x;              /* [n x C] x behind the layer */
} layer_activations;

struct gpt2 {
    gpt_config config;
    int batch, seq, step; /* step: updates so far */
    char *arena;          /* [bytes] of which all that follows are parts */
    size_t bytes;
    float *params, *grad, *m, *v; /* [gpt_params] each */
    bf16 *weights;                /* [gpt_params] params, rounded */
    product_room room;

    layer_activations *layers; /* [layers], on the host */
    bf16 *x;                   /* [n x C] what the first layer reads */
    bf16 *lnf;                 /* [n x C] */
    float *mean, *rstd;        /* [n] each, of lnf */
    float *losses;             /* [n] */
    float *norm;               /* [1] of the gradients */
    int chunk, pitch;          /* rows of logits at a time, and elements from a row to the next */
    bf16 *logits;              /* [chunk x pitch] */

    /* For a moment, in both passes: */
    bf16 *rows;            /* [n x 3C] */
    bf16 *wide;            /* [n x 4C] */
    bf16 *grad_x, *narrow; /* [n x C] each */
};

/* TODO: lay_out: every array gets its place in the arena (about 60 lines). */

/* TODO: a linear layer: what its three products are, and the gradients of its parameters (about
   50 lines). */

/* TODO: heads apart and together, and the scale of scores (about 18 lines). */

/* TODO: layer_forward: both branches of one layer, from x to l->x (about 40 lines). */

/* TODO: layer_backward: grad_x, of l->x at first, becomes that of x (about 50 lines). */

/* TODO: head, the logits of some rows, their loss and its gradients in three products; and
   head_all, chunk by chunk (about 45 lines). */

/* TODO: before, what a layer reads; forward and backward (about 40 lines). */

/* TODO: update: clip, AdamW in its groups, and weights rounded anew (about 30 lines). */

/* TODO: set_up: what products need of the device, the arena, parameters and zeros; it waits for
   the device (about 28 lines). */

cudaError_t gpt2_create(gpt2 **net, const gpt_config *config, const float *h_params, int batch,
                        int seq)
{
    *net = NULL;
    /* TODO: refuse what 4c has no kernel for; a zeroed struct, set up; nothing is left behind
       on an error (about 20 lines). */
    NOT_IMPLEMENTED(net, config, h_params, batch, seq);
    return cudaGetLastError();
}

cudaError_t gpt2_train_step(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets,
                            float lr, float beta1, float beta2, float eps, float weight_decay,
                            float max_norm, cudaStream_t stream)
{
    /* TODO: forward, the head, the mean loss, backward, update (about 6 lines). */
    NOT_IMPLEMENTED(net, d_loss, d_tokens, d_targets, lr, beta1, beta2, eps, weight_decay, max_norm,
                    stream);
    return cudaGetLastError();
}

/* TODO: fetch: wait for every stream, since none is given, and copy (about 7 lines). */

cudaError_t gpt2_get_grads(gpt2 *net, float *h_grads)
{
    /* TODO: fetch (1 line). */
    NOT_IMPLEMENTED(net, h_grads);
    return cudaGetLastError();
}

cudaError_t gpt2_get_params(gpt2 *net, float *h_params)
{
    /* TODO: fetch (1 line). */
    NOT_IMPLEMENTED(net, h_params);
    return cudaGetLastError();
}

size_t gpt2_device_bytes(const gpt2 *net)
{
    /* TODO: the arena is all there is (1 line). */
    NOT_IMPLEMENTED(net);
    return 0;
}

cudaError_t gpt2_free(gpt2 *net)
{
    /* TODO: the arena, the layers, the struct; any of them may be missing where gpt2_create
       failed (about 5 lines). */
    NOT_IMPLEMENTED(net);
    return cudaGetLastError();
}
