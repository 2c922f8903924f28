/*
 * 510_gpt2.cu: a fast training step of GPT-2: 508's network on tensor cores.
 *
 * The idea: nearly all arithmetic is in products, so these go to tensor cores in bf16 with sums in
 * fp32; and then everything else is memory traffic, so whatever can be done to a number before it
 * leaves a register is done there.
 *
 *   510_product.cuh   the three products of a linear layer; bias, residual, GELU and its slope are
 *                     applied to the sums
 *   510_rows.cuh      layer normalization, and sums down the columns
 *   510_tokens.cuh    rows for tokens, the loss in place, heads
 *   4i and 4j         attention, which keeps no square of seq x seq
 *   314 and 3a        AdamW in its groups; the gradient of the table, always in the same order
 *
 * Two copies of the parameters: AdamW's steps are far smaller than the spacing of bf16 numbers, so
 * it updates fp32, and after each step the weights are rounded for the products. Gradients of
 * weights are fp32, activations and their gradients bf16; its exponents are those of fp32, so that
 * no gradient has to be scaled against underflow.
 *
 * All memory is one arena, laid out when the network is made for its batch and sequence: a step
 * allocates nothing of its own. Of a layer 16 activations of [tokens x channels] are kept, half as
 * large as 508's; logits exist for a quarter of the tokens at a time, and become their gradient.
 *
 * Given: the arena, the descriptions of products (linear, linear_inputs, linear_weights), attention
 * by 4i and 4j, the walk over the layers, AdamW; of the parts all but `finish` and loss_kernel. To
 * write: these two; layer_forward, layer_backward, head; the step; and how many logits there are at
 * a time.
 *
 * Attention has its operands by heads. On a Hopper GPU the products read and write these as they
 * are, since a box of the TMA is of one head; elsewhere, or if seq is no multiple of 128, they are
 * moved to rows and back, 16 times [tokens x channels] per layer.
 *
 * The gradient of a bias is a sum down the columns of the gradient of what it was added to. Where
 * layernorm_back makes that gradient, it has these sums too.
 *
 * The cost left: no kernel begins before the one before it has ended.
 */
#include "208_reduce/reduce.h"
#include "314_adam/adam.h"
#include "3a_deterministic_backward/deterministic_backward.h"
#include "4i_flash_attention3/flash_attention3.h"
#include "4j_flash_attention3_backward/flash_attention3_backward.h"
#include "510_gpt2/gpt2.h"
#include "510_hopper.cuh"
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
    bool by_heads; /* do products read and write heads? */

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

/* @return the place of `bytes` bytes, aligned as if it came from cudaMalloc; without an arena they
 * are only counted. */
static void *take(gpt2 *net, size_t bytes)
{
    void *taken = net->arena == NULL ? NULL : net->arena + net->bytes;
    net->bytes += (bytes + 255) / 256 * 256;
    return taken;
}

static float *floats(gpt2 *net, size_t count)
{
    return (float *)take(net, count * sizeof(float));
}

static bf16 *halves(gpt2 *net, size_t count)
{
    return (bf16 *)take(net, count * sizeof(bf16));
}

static void lay_out_layer(gpt2 *net, layer_activations *l, size_t n, size_t width)
{
    l->ln1 = halves(net, width);
    l->mean1 = floats(net, n);
    l->rstd1 = floats(net, n);
    l->qkv = halves(net, 3 * width);
    l->attention = halves(net, width);
    l->lse = floats(net, n * net->config.heads);
    l->middle = halves(net, width);
    l->ln2 = halves(net, width);
    l->mean2 = floats(net, n);
    l->rstd2 = floats(net, n);
    l->fc = halves(net, 4 * width);
    l->gelu = halves(net, 4 * width);
    l->x = halves(net, width);
}

/* Every array gets its place in the arena. */
static void lay_out(gpt2 *net)
{
    const size_t all = gpt_params(&net->config), C = net->config.channels;
    const size_t n = (size_t)net->batch * net->seq, width = n * C;
    net->bytes = 0;
    net->params = floats(net, all);
    net->grad = floats(net, all);
    net->m = floats(net, all);
    net->v = floats(net, all);
    net->weights = halves(net, all);
    for (int i = 0; i < net->config.layers; i++) lay_out_layer(net, &net->layers[i], n, width);
    net->x = halves(net, width);
    net->lnf = halves(net, width);
    net->mean = floats(net, n);
    net->rstd = floats(net, n);
    net->losses = floats(net, n);
    net->norm = floats(net, 1);
    net->logits = halves(net, (size_t)net->chunk * net->pitch);
    net->rows = halves(net, 3 * width);
    net->wide = halves(net, 4 * width);
    net->grad_x = halves(net, width);
    net->narrow = halves(net, width);
    net->room.parts_floats = 32 * C * C; /* 8 splits of the largest matrix of a layer */
    net->room.parts = floats(net, net->room.parts_floats);
}

static head_layout head_layout_of(const gpt2 *net)
{
    const gpt_config *c = &net->config;
    return {net->batch, net->seq, c->heads, c->channels / c->heads};
}

/* A linear layer, out [n x to] = x [n x from] w^T + bias, of the parameters at w and bias: what
 * multiply is told. The caller may set residual, gelu or a_heads first. */
static product linear(const gpt2 *net, bf16 *out, const bf16 *x, size_t w, size_t bias, int from,
                      int to)
{
    product p = {};
    p.kind = NT, p.m = net->batch * net->seq, p.n = to, p.k = from;
    p.a = x, p.a_pitch = from;
    p.b = net->weights + w, p.b_pitch = from;
    p.bias = net->params + bias;
    p.out = out, p.out_pitch = to;
    p.by = head_layout_of(net);
    return p;
}

/* Likewise grad_x [n x from] = grad_y [n x to] w; the caller may set slope_of or a_heads.
 */
static product linear_inputs(const gpt2 *net, bf16 *grad_x, const bf16 *grad_y, size_t w, int from,
                             int to)
{
    product p = {};
    p.kind = NN, p.m = net->batch * net->seq, p.n = from, p.k = to;
    p.a = grad_y, p.a_pitch = to;
    p.b = net->weights + w, p.b_pitch = from;
    p.out = grad_x, p.out_pitch = from;
    p.by = head_layout_of(net);
    return p;
}

/* Which of the operands is by heads, if products read heads. */
typedef enum heads_side { NEITHER, X_HEADS, GRAD_HEADS } heads_side;

#define NO_BIAS ((size_t)-1) /* its gradient is made elsewhere */

/* The gradients of w and, unless it is NO_BIAS, of bias, from grad_y [n x to] and x [n x from]. */
static cudaError_t linear_weights(const gpt2 *net, size_t w, size_t bias, const bf16 *grad_y,
                                  const bf16 *x, int from, int to, heads_side side,
                                  cudaStream_t stream)
{
    const int n = net->batch * net->seq;
    product p = {};
    p.kind = TN, p.m = to, p.n = from, p.k = n;
    p.a = grad_y, p.a_pitch = to;
    p.b = x, p.b_pitch = from;
    p.sums = net->grad + w, p.out_pitch = from;
    p.by = head_layout_of(net);
    p.a_heads = net->by_heads && side == GRAD_HEADS;
    p.b_heads = net->by_heads && side == X_HEADS;
    if (bias != NO_BIAS)
        CUDA_CHECK(column_sums(net->grad + bias, grad_y, n, to, p.a_heads ? p.by : head_layout{},
                               net->room.parts, stream));
    return multiply(&p, &net->room, stream);
}

/* heads [parts x batch x heads x seq x dim] from rows [n x parts x C]; merge_heads: back. */
static cudaError_t split_heads(const gpt2 *net, bf16 *heads, const bf16 *rows, int parts,
                               cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    return move_heads(true, heads, rows, parts, net->batch, net->seq, c->heads,
                      c->channels / c->heads, stream);
}

static cudaError_t merge_heads(const gpt2 *net, bf16 *rows, const bf16 *heads, int parts,
                               cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    return move_heads(false, rows, heads, parts, net->batch, net->seq, c->heads,
                      c->channels / c->heads, stream);
}

static float score_scale(const gpt2 *net)
{
    return 1.0f / sqrtf((float)(net->config.channels / net->config.heads));
}

/* p, whose result is wanted at heads [parts x batch x heads x seq x dim]. Where products do not
 * write heads it goes by p->out, in rows. */
static cudaError_t multiply_to_heads(const gpt2 *net, bf16 *heads, product *p, int parts,
                                     cudaStream_t stream)
{
    bf16 *rows = p->out;
    p->out_heads = net->by_heads;
    if (net->by_heads) p->out = heads;
    CUDA_CHECK(multiply(p, &net->room, stream));
    return net->by_heads ? cudaSuccess : split_heads(net, heads, rows, parts, stream);
}

/* What is at heads [parts x batch x heads x seq x dim], as an operand: itself, or, where products
 * do not read heads, moved to rows. The product is told by a_heads = net->by_heads. */
static cudaError_t from_heads(const gpt2 *net, const bf16 **operand, bf16 *rows, const bf16 *heads,
                              int parts, cudaStream_t stream)
{
    *operand = net->by_heads ? heads : rows;
    return net->by_heads ? cudaSuccess : merge_heads(net, rows, heads, parts, stream);
}

/* l->attention, of the queries, keys and values in l->qkv. */
static cudaError_t attention_forward(const gpt2 *net, const layer_activations *l,
                                     cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const size_t width = (size_t)net->batch * net->seq * c->channels;
    return attention_flash3(l->attention, l->lse, l->qkv, l->qkv + width, l->qkv + 2 * width,
                            net->batch, c->heads, net->seq, c->channels / c->heads, 1,
                            score_scale(net), stream);
}

/* Both branches of one layer, from x [n x C] to l->x. Activations are kept in l. */
static cudaError_t layer_forward(const gpt2 *net, const bf16 *x, int layer, cudaStream_t stream)
{
    const layer_activations *l = &net->layers[layer];
    const float *p = net->params;
    const gpt_layer at = gpt_layer_at(&net->config, layer);
    const int n = net->batch * net->seq, C = net->config.channels;
    /* TODO: layernorm to ln1; the product qkv by net->rows to l->qkv, by heads;
       attention_forward; from_heads, with net->narrow as rows; the product proj of that to middle,
       with x as its residual and a_heads. Likewise layernorm to ln2; fc to l->fc, with l->gelu as
       its gelu; fcproj to l->x, with middle as its residual. Each product is described by linear,
       then multiply or multiply_to_heads runs it (about 19 lines). */
    NOT_IMPLEMENTED(net, x, layer, stream);
    return cudaSuccess;
}

/* The gradients of queries, keys and values, from that of what attention left: the last three and
 * the first of the four [batch x heads x seq x dim] in net->wide. */
static cudaError_t attention_backward(const gpt2 *net, const layer_activations *l,
                                      cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const size_t width = (size_t)net->batch * net->seq * c->channels;
    bf16 *grad_heads = net->wide, *grad = net->wide + width;
    return attention_flash3_backward(grad, grad + width, grad + 2 * width, grad_heads, l->attention,
                                     l->lse, l->qkv, l->qkv + width, l->qkv + 2 * width, net->batch,
                                     c->heads, net->seq, c->channels / c->heads, 1,
                                     score_scale(net), stream);
}

/* The gradient of the bias that was added last to what a layer reads; NULL for the first. */
static float *bias_before(const gpt2 *net, int layer)
{
    return layer == 0 ? NULL : net->grad + gpt_layer_at(&net->config, layer - 1).fcproj_b;
}

/* net->grad_x [n x C], of l->x at first, becomes that of x; the gradients of the layer's parameters
 * are overwritten. What is only for a moment is in narrow [n x C], rows [n x 3C] and wide [n x 4C].
 */
static cudaError_t layer_backward(const gpt2 *net, const bf16 *x, int layer, cudaStream_t stream)
{
    const layer_activations *l = &net->layers[layer];
    const float *p = net->params;
    float *grad = net->grad, *parts = net->room.parts;
    bf16 *narrow = net->narrow, *wide = net->wide, *rows = net->rows, *grad_x = net->grad_x;
    const gpt_layer at = gpt_layer_at(&net->config, layer);
    const int n = net->batch * net->seq, C = net->config.channels;
    /* TODO: layer_forward backwards. Of a linear layer first linear_weights, from the gradient
       of what it left and what it has read, then linear_inputs and multiply. The second branch:
       fcproj to wide, with l->fc as its slope_of, so that GELU is done; fc to narrow;
       layernorm_back, which adds to grad_x, and has the gradient of the bias of proj. The first:
       from_heads, by narrow, has what proj has read; proj by narrow to wide, by heads;
       attention_backward; from_heads, by rows, what it left behind wide's first [n x C]; qkv to
       narrow, with a_heads; layernorm_back, with bias_before (about 28 lines). */
    NOT_IMPLEMENTED(net, x, layer, stream);
    return cudaSuccess;
}

/* The logits of `rows` rows from `first` on, their losses, and the gradients: of these rows of lnf,
 * in net->narrow [n x C], and of wte, at net->grad [V x C]. The first rows overwrite wte's, all
 * others add to it. The logits are in net->logits [rows x pitch], wte rounded in net->weights [V x
 * C]. */
static cudaError_t head(const gpt2 *net, int first, int rows, const int *d_targets,
                        cudaStream_t stream)
{
    const int V = net->config.vocab, C = net->config.channels, n = net->batch * net->seq;
    const bf16 *lnf = net->lnf + (size_t)first * C;
    product logits = {}, inputs = {}, table = {};
    /* TODO: logits = lnf wte^T, of kind NT; loss_in_place, scaled by one over all tokens, for
       losses and targets from `first` on; the gradient of lnf = logits wte, of kind NN, to narrow
       from row `first` on; that of wte = logits^T lnf, of kind TN, to sums. A product is told kind,
       m, n, k, a and b with their pitches, where it goes and the pitch there (about 16 lines). */
    NOT_IMPLEMENTED(net, first, rows, d_targets, stream);
    return cudaSuccess;
}

/* The same for all rows, chunk by chunk. */
static cudaError_t head_all(const gpt2 *net, const int *d_targets, cudaStream_t stream)
{
    const int n = net->batch * net->seq;
    for (int first = 0; first < n; first += net->chunk) {
        const int rows = n - first < net->chunk ? n - first : net->chunk;
        CUDA_CHECK(head(net, first, rows, d_targets, stream));
    }
    return cudaSuccess;
}

/* What a layer reads. */
static const bf16 *before(const gpt2 *net, int layer)
{
    return layer == 0 ? net->x : net->layers[layer - 1].x;
}

/* From the tokens to lnf. */
static cudaError_t forward(const gpt2 *net, const int *d_tokens, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const float *p = net->params;
    CUDA_CHECK(
        embed(net->x, d_tokens, p, p + gpt_wpe(c), net->batch, net->seq, c->channels, stream));
    for (int i = 0; i < c->layers; i++) CUDA_CHECK(layer_forward(net, before(net, i), i, stream));
    return layernorm(net->lnf, net->mean, net->rstd, before(net, c->layers), p + gpt_lnf_w(c),
                     p + gpt_lnf_b(c), net->batch * net->seq, c->channels, GPT_EPS, stream);
}

/* From the gradient of lnf, net->narrow. The embedding adds to what the logits left in wte's. */
static cudaError_t backward(const gpt2 *net, const int *d_tokens, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const int n = net->batch * net->seq, C = c->channels;
    float *grad = net->grad, *wide = (float *)net->wide; /* [n x C], for 3a */
    CUDA_CHECK(layernorm_back(net->grad_x, grad + gpt_lnf_w(c), grad + gpt_lnf_b(c),
                              bias_before(net, c->layers), net->narrow, before(net, c->layers),
                              net->params + gpt_lnf_w(c), net->mean, net->rstd, n, C, false,
                              net->room.parts, stream));
    for (int i = c->layers - 1; i >= 0; i--)
        CUDA_CHECK(layer_backward(net, before(net, i), i, stream));
    CUDA_CHECK(widen_all(wide, net->grad_x, (size_t)n * C, stream));
    return embedding_backward_deterministic(grad, grad + gpt_wpe(c), wide, d_tokens, net->batch,
                                            net->seq, C, c->vocab, stream);
}

/* @return how many groups: neighbours that decay alike are one */
static int groups_of(adam_group *groups, const gpt_config *c, float weight_decay)
{
    int count = 0;
    for (int i = 0; i < gpt_arrays(c); i++) {
        const gpt_array array = gpt_array_at(c, i);
        const float decay = array.matrix ? weight_decay : 0.0f;
        if (count == 0 || groups[count - 1].weight_decay != decay) groups[count++] = {0, decay};
        groups[count - 1].n += array.rows * array.cols;
    }
    return count;
}

/* Clip, AdamW in its groups, and weights rounded anew. */
static cudaError_t update(gpt2 *net, float lr, float beta1, float beta2, float eps,
                          float weight_decay, float max_norm, cudaStream_t stream)
{
    const size_t all = gpt_params(&net->config);
    if (max_norm > 0.0f) CUDA_CHECK(global_norm_clip(net->norm, net->grad, all, max_norm, stream));
    adam_group *groups = (adam_group *)malloc(gpt_arrays(&net->config) * sizeof *groups);
    if (groups == NULL) return cudaErrorMemoryAllocation;
    const int count = groups_of(groups, &net->config, weight_decay);
    const cudaError_t error =
        adam_update_groups(net->params, net->m, net->v, net->grad, groups, count, lr, beta1, beta2,
                           eps, net->step + 1, stream);
    free(groups);
    if (error != cudaSuccess) return error;
    net->step++;
    return round_all(net->weights, net->params, all, stream);
}

/* What products need of the device. */
static cudaError_t ask_device(product_room *room)
{
    int device, bytes;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&room->processors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    room->hopper = h_multiprocessors();
    room->large = bytes >= 192 * 1024; /* four stages of 48 KB */
    return cudaSuccess;
}

/* The arena, parameters and zeros; it waits for the device. */
static cudaError_t set_up(gpt2 *net, const float *h_params)
{
    const size_t all = gpt_params(&net->config), bytes = all * sizeof(float);
    net->layers = (layer_activations *)calloc(net->config.layers, sizeof *net->layers);
    if (net->layers == NULL) return cudaErrorMemoryAllocation;
    CUDA_CHECK(ask_device(&net->room));
    net->by_heads = takes_heads(&net->room, net->seq);
    lay_out(net);
    CUDA_CHECK(cudaMalloc((void **)&net->arena, net->bytes));
    lay_out(net);
    /* Positions behind seq have a gradient of 0, and keep it. */
    CUDA_CHECK(cudaMemset(net->grad, 0, bytes));
    CUDA_CHECK(cudaMemset(net->m, 0, bytes));
    CUDA_CHECK(cudaMemset(net->v, 0, bytes));
    CUDA_CHECK(cudaMemcpy(net->params, h_params, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(round_all(net->weights, net->params, all, NULL));
    return cudaDeviceSynchronize(); /* the caller's streams need not wait for this one */
}

cudaError_t gpt2_create(gpt2 **net, const gpt_config *config, const float *h_params, int batch,
                        int seq)
{
    *net = NULL;
    if (!gpt_config_is_valid(config) || batch < 1 || seq < 1 || seq > config->context ||
        batch > INT_MAX / seq)
        return cudaErrorInvalidValue;
    const int dim = config->channels / config->heads;
    if (dim != 64 && dim != 128) return cudaErrorInvalidValue;
    gpt2 *made = (gpt2 *)calloc(1, sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    made->config = *config;
    made->batch = batch;
    made->seq = seq;
    /* TODO: made->chunk: a quarter of the tokens, rounded up to a multiple of 256, but no more
       than there are; made->pitch: vocab, rounded up to a multiple of 64,
       128 bytes (about 3 lines). */
    NOT_IMPLEMENTED(net, config, h_params, batch, seq);
    const cudaError_t error = set_up(made, h_params);
    if (error != cudaSuccess) {
        gpt2_free(made);
        return error;
    }
    *net = made;
    return cudaGetLastError();
}

cudaError_t gpt2_train_step(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets,
                            float lr, float beta1, float beta2, float eps, float weight_decay,
                            float max_norm, cudaStream_t stream)
{
    /* TODO: forward; head_all; the loss, if it is wanted, by reduce_sum over net->losses [n];
       backward; update (about 6 lines). */
    NOT_IMPLEMENTED(net, d_loss, d_tokens, d_targets, lr, beta1, beta2, eps, weight_decay, max_norm,
                    stream);
    return cudaGetLastError();
}

/* Wait for every stream, since none is given, and copy. */
static cudaError_t fetch(const gpt2 *net, float *h_array, const float *array)
{
    CUDA_CHECK(cudaDeviceSynchronize());
    return cudaMemcpy(h_array, array, gpt_params(&net->config) * sizeof(float),
                      cudaMemcpyDeviceToHost);
}

cudaError_t gpt2_get_grads(gpt2 *net, float *h_grads)
{
    CUDA_CHECK(fetch(net, h_grads, net->grad));
    return cudaGetLastError();
}

cudaError_t gpt2_get_params(gpt2 *net, float *h_params)
{
    CUDA_CHECK(fetch(net, h_params, net->params));
    return cudaGetLastError();
}

size_t gpt2_device_bytes(const gpt2 *net)
{
    return net->bytes;
}

cudaError_t gpt2_free(gpt2 *net)
{
    if (net == NULL) return cudaSuccess;
    const cudaError_t error = cudaFree(net->arena); /* waits for kernels that use it */
    free(net->layers);
    free(net);
    if (error != cudaSuccess) return error;
    return cudaGetLastError();
}
