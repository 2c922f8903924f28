/*
 * network.cu: forward, backward and update of a GPT of Llama blocks (llama.h). The blocks are 3c's
 * RMSNorm, rotary embedding and SwiGLU, with the products, the attention, the loss and the
 * optimizer of 508's network.
 *
 * 508's gpt_create makes the arrays, and 509 trains: it calls gpt_forward, gpt_backward and
 * gpt_update of 508. The linker puts functions of this file in their place (--wrap, in
 * programs.mk).
 *
 * What it costs: 313 knows no groups, so keys and values are copied for each head of queries, and
 * grouped queries save parameters and no time. A token that is written is a pass over those before
 * it; with the keys kept, as 509 keeps its own, it would be one row.
 */
#include "llama.h"
#include "208_reduce/reduce.h"
#include "303_linear/linear.h"
#include "305_cross_entropy/cross_entropy.h"
#include "312_embedding/embedding.h"
#include "313_attention/attention.h"
#include "314_adam/adam.h"
#include "3c_llama_block/llama_block.h"
#include "cuda_check.h"

#include <limits.h>
#include <math.h>

#define THREADS 256
#define BASE    10000.0f /* of the rotary embedding's angles */

/* Arrays of a layer, kept for the backward pass, in this order; n is batch x seq, H hidden. */
enum {
    X,         /* [n x C] each, to NORM2 but for QKV: what the layer reads */
    NORM1,     /* what qkv reads */
    QKV,       /* [3 x batch x heads x seq x dim]: queries and keys, turned, and values */
    MIXED = 5, /* what attention leaves */
    MIDDLE,    /* x between the two branches */
    NORM2,     /* what gate and up read */
    GATE,      /* [n x H] each, to HIDDEN; the backward pass leaves gradients in GATE and UP */
    UP,
    HIDDEN,
    INV1, /* [n] each: 1 / root mean square */
    INV2
};

/* Behind the last layer: X, which the last norm reads, and INV1, its 1 / root mean square, and */
enum { LAST = NORM1, GRAD_QKV = QKV, GRAD_X = MIXED, GRAD_Y, SUM, ROWS = GATE, LOSSES = INV2 };

static struct {
    int batch, seq;              /* of the last pass */
    bool ready;                  /* it had targets, and no backward pass since */
    float *memory;               /* [floats]: the arrays above, and behind them: */
    float *logits, *grad_logits; /* [n x V] each */
    int *tokens;                 /* [n] */
    float *norm;                 /* [1] of the gradients */
    size_t floats;
} kept; /* one network a program */

/* ---- memory ---------------------------------------------------------------------------------- */

/* Floats before an array, and before whatever follows the last. */
static size_t floats_before(const gpt_config *c, int layer, int what)
{
    const size_t C = c->channels, H = llama_hidden(c), n = (size_t)kept.batch * kept.seq;
    const size_t narrow = what < GATE ? what : GATE;
    const size_t wide = what < GATE ? 0 : what < INV1 ? what - GATE : INV1 - GATE;
    const size_t single = what < INV1 ? 0 : what - INV1, whole = GATE * C + 3 * H + 2;
    return n * (layer * whole + narrow * C + wide * H + single);
}

static float *array(const gpt *net, int layer, int what)
{
    return kept.memory + floats_before(&net->config, layer, what);
}

/* Room for a batch. It stays, so that only the largest batch allocates. */
static cudaError_t reserve(const gpt *net, int batch, int seq)
{
    const gpt_config *c = &net->config;
    kept.ready = false;
    if (batch < 1 || seq < 1 || seq > c->context || batch > INT_MAX / seq)
        return cudaErrorInvalidValue;
    kept.batch = batch, kept.seq = seq;
    const size_t n = (size_t)batch * seq, arrays = floats_before(c, c->layers + 1, X);
    const size_t floats = arrays + n * (2 * c->vocab + 1) + 1;
    if (floats > kept.floats) {
        cudaFree(kept.memory);
        kept.memory = NULL, kept.floats = 0;
        CUDA_CHECK(cudaMalloc((void **)&kept.memory, floats * sizeof(float)));
        kept.floats = floats;
    }
    kept.logits = kept.memory + arrays, kept.grad_logits = kept.logits + n * c->vocab;
    kept.tokens = (int *)(kept.grad_logits + n * c->vocab);
    kept.norm = (float *)(kept.tokens + n);
    return cudaSuccess;
}

cudaError_t llama_release(gpt *net)
{
    cudaFree(kept.memory);
    kept.memory = NULL, kept.floats = 0;
    return gpt_free(net);
}

/* ---- attention ---------------------------------------------------------------------------------
 *
 * A product makes rows of a token, of C queries, K keys and K values; attention needs whole heads,
 * [batch x heads x seq x dim], a head of keys for each head of its group. */

typedef struct shape {
    int width, heads, seq, dim, group; /* width: floats of a row */
} shape;

/* A thread has an element of heads[n]. */
__global__ static void split_kernel(float *heads, const float *rows, size_t n, shape s)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const size_t d = i % s.dim, t = i / s.dim % s.seq, head = i / s.dim / s.seq;
    const size_t b = head / s.heads, h = head % s.heads / s.group;
    heads[i] = rows[(b * s.seq + t) * s.width + h * s.dim + d];
}

/* A thread adds up n / group elements of heads[n] in each group, to where they were copied from. */
__global__ static void join_kernel(float *rows, const float *heads, size_t n, shape s)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / s.group) return;
    const size_t d = i % s.dim, t = i / s.dim % s.seq, first = i / s.dim / s.seq * s.group;
    const size_t b = first / s.heads, h = first % s.heads / s.group;
    float sum = 0.0f;
    for (int g = 0; g < s.group; g++) sum += heads[((first + g) * s.seq + t) * s.dim + d];
    rows[(b * s.seq + t) * s.width + h * s.dim + d] = sum;
}

static cudaError_t launch(void (*kernel)(float *, const float *, size_t, shape), const gpt *net,
                          float *y, const float *x, int width, int group, cudaStream_t stream)
{
    const int C = net->config.channels, heads = net->config.heads;
    const size_t n = (size_t)kept.batch * kept.seq * C;
    kernel<<<(unsigned)((n - 1) / THREADS + 1), THREADS, 0, stream>>>(
        y, x, n, {width, heads, kept.seq, C / heads, group});
    return cudaGetLastError();
}

static int keys_of(const gpt *net)
{
    return net->config.channels / llama_group(&net->config);
}

/* MIXED, from ROWS [n x C+2K]. */
static cudaError_t attention_forward(const gpt *net, int layer, cudaStream_t stream)
{
    const int B = kept.batch, T = kept.seq, C = net->config.channels, heads = net->config.heads;
    const int dim = C / heads, K = keys_of(net), W = C + 2 * K, group = llama_group(&net->config);
    const size_t width = (size_t)B * T * C;
    float *q = array(net, layer, QKV), *k = q + width, *v = k + width;
    float *rows = array(net, net->config.layers, ROWS), *out = array(net, net->config.layers, SUM);
    CUDA_CHECK(launch(split_kernel, net, q, rows, W, 1, stream));
    CUDA_CHECK(launch(split_kernel, net, k, rows + C, W, group, stream));
    CUDA_CHECK(launch(split_kernel, net, v, rows + C + K, W, group, stream));
    CUDA_CHECK(rope_forward(q, q, 2 * B * heads, T, dim, 0, BASE, stream)); /* k lies behind q */
    CUDA_CHECK(attention_naive(out, q, k, v, B, heads, T, dim, 1, 1 / sqrtf((float)dim), stream));
    return launch(join_kernel, net, array(net, layer, MIXED), out, C, 1, stream);
}

/* The gradient of ROWS [n x C+2K] in its place, from GRAD_Y, that of MIXED. */
static cudaError_t attention_backward(const gpt *net, int layer, cudaStream_t stream)
{
    const int B = kept.batch, T = kept.seq, C = net->config.channels, heads = net->config.heads;
    const int dim = C / heads, K = keys_of(net), W = C + 2 * K, group = llama_group(&net->config);
    const int L = net->config.layers;
    const size_t width = (size_t)B * T * C;
    float *q = array(net, layer, QKV), *k = q + width, *v = k + width;
    float *grad_q = array(net, L, GRAD_QKV), *grad_k = grad_q + width, *grad_v = grad_k + width;
    float *grad_out = array(net, L, SUM), *rows = array(net, L, ROWS);
    CUDA_CHECK(launch(split_kernel, net, grad_out, array(net, L, GRAD_Y), C, 1, stream));
    CUDA_CHECK(attention_naive_backward(grad_q, grad_k, grad_v, grad_out, q, k, v, B, heads, T, dim,
                                        1, 1 / sqrtf((float)dim), stream));
    CUDA_CHECK(rope_backward(grad_q, grad_q, 2 * B * heads, T, dim, 0, BASE, stream));
    CUDA_CHECK(launch(join_kernel, net, rows, grad_q, W, 1, stream));
    CUDA_CHECK(launch(join_kernel, net, rows + C, grad_k, W, group, stream));
    return launch(join_kernel, net, rows + C + K, grad_v, W, group, stream);
}

/* ---- a layer --------------------------------------------------------------------------------- */

static cudaError_t layer_forward(const gpt *net, int layer, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const llama_layer at = llama_layer_at(c, layer);
    const int n = kept.batch * kept.seq, C = c->channels, H = llama_hidden(c);
    const size_t width = (size_t)n * C;
    const float *p = net->params, *x = array(net, layer, X);
    float *norm1 = array(net, layer, NORM1), *norm2 = array(net, layer, NORM2);
    float *middle = array(net, layer, MIDDLE), *rows = array(net, c->layers, ROWS);
    float *gate = array(net, layer, GATE), *up = array(net, layer, UP);
    float *hidden = array(net, layer, HIDDEN);
    CUDA_CHECK(
        rmsnorm_forward(norm1, array(net, layer, INV1), x, p + at.norm1, n, C, GPT_EPS, stream));
    CUDA_CHECK(linear_forward(rows, norm1, p + at.qkv, NULL, n, C, C + 2 * keys_of(net), stream));
    CUDA_CHECK(attention_forward(net, layer, stream));
    CUDA_CHECK(linear_forward(rows, array(net, layer, MIXED), p + at.proj, NULL, n, C, C, stream));
    CUDA_CHECK(residual_forward(middle, x, rows, width, stream));

    CUDA_CHECK(rmsnorm_forward(norm2, array(net, layer, INV2), middle, p + at.norm2, n, C, GPT_EPS,
                               stream));
    CUDA_CHECK(linear_forward(gate, norm2, p + at.gate, NULL, n, C, H, stream));
    CUDA_CHECK(linear_forward(up, norm2, p + at.up, NULL, n, C, H, stream));
    CUDA_CHECK(swiglu_forward(hidden, gate, up, (size_t)n * H, stream));
    CUDA_CHECK(linear_forward(rows, hidden, p + at.down, NULL, n, H, C, stream));
    return residual_forward(array(net, layer + 1, X), middle, rows, width, stream);
}

/* GRAD_X [n x C], the gradient of the next layer's X, becomes that of this layer's. */
static cudaError_t layer_backward(const gpt *net, int layer, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const llama_layer at = llama_layer_at(c, layer);
    const int n = kept.batch * kept.seq, C = c->channels, H = llama_hidden(c), L = c->layers;
    const size_t width = (size_t)n * C;
    const float *p = net->params, *norm1 = array(net, layer, NORM1);
    const float *norm2 = array(net, layer, NORM2), *hidden = array(net, layer, HIDDEN);
    float *gate = array(net, layer, GATE), *up = array(net, layer, UP), *rows = array(net, L, ROWS);
    float *grad_x = array(net, L, GRAD_X), *grad_y = array(net, L, GRAD_Y);
    float *sum = array(net, L, SUM), *g = net->grad;
    CUDA_CHECK(
        linear_backward(rows, g + at.down, NULL, grad_x, hidden, p + at.down, n, H, C, stream));
    CUDA_CHECK(swiglu_backward(gate, up, rows, gate, up, (size_t)n * H, stream));
    CUDA_CHECK(
        linear_backward(grad_y, g + at.gate, NULL, gate, norm2, p + at.gate, n, C, H, stream));
    CUDA_CHECK(linear_backward(sum, g + at.up, NULL, up, norm2, p + at.up, n, C, H, stream));
    CUDA_CHECK(residual_forward(grad_y, grad_y, sum, width, stream));
    CUDA_CHECK(rmsnorm_backward(grad_y, g + at.norm2, grad_y, array(net, layer, MIDDLE),
                                p + at.norm2, array(net, layer, INV2), n, C, stream));
    CUDA_CHECK(residual_forward(grad_x, grad_x, grad_y, width, stream));

    CUDA_CHECK(linear_backward(grad_y, g + at.proj, NULL, grad_x, array(net, layer, MIXED),
                               p + at.proj, n, C, C, stream));
    CUDA_CHECK(attention_backward(net, layer, stream));
    CUDA_CHECK(linear_backward(grad_y, g + at.qkv, NULL, rows, norm1, p + at.qkv, n, C,
                               C + 2 * keys_of(net), stream));
    CUDA_CHECK(rmsnorm_backward(grad_y, g + at.norm1, grad_y, array(net, layer, X), p + at.norm1,
                                array(net, layer, INV1), n, C, stream));
    return residual_forward(grad_x, grad_x, grad_y, width, stream);
}

/* ---- the network ----------------------------------------------------------------------------- */

/* logits [n x V] of kept.tokens. */
static cudaError_t pass(const gpt *net, float *logits, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const int n = kept.batch * kept.seq, C = c->channels, L = c->layers;
    const float *p = net->params, *norm = p + llama_params(c) - C;
    float *last = array(net, L, LAST);
    CUDA_CHECK(
        embedding_forward(array(net, 0, X), kept.tokens, p, NULL, kept.batch, kept.seq, C, stream));
    for (int i = 0; i < L; i++) CUDA_CHECK(layer_forward(net, i, stream));
    CUDA_CHECK(
        rmsnorm_forward(last, array(net, L, INV1), array(net, L, X), norm, n, C, GPT_EPS, stream));
    return linear_forward(logits, last, p, NULL, n, C, c->vocab, stream);
}

__global__ static void scale_kernel(float *x, float factor)
{
    *x *= factor;
}

extern "C" {

decltype(gpt_forward) __wrap_gpt_forward;
decltype(gpt_backward) __wrap_gpt_backward;
decltype(gpt_update) __wrap_gpt_update;

cudaError_t __wrap_gpt_forward(gpt *net, float *d_loss, float *d_logits, const int *d_tokens,
                               const int *d_targets, int batch, int seq, cudaStream_t stream)
{
    CUDA_CHECK(reserve(net, batch, seq));
    const size_t n = (size_t)batch * seq;
    float *logits = d_logits != NULL ? d_logits : kept.logits;
    CUDA_CHECK(
        cudaMemcpyAsync(kept.tokens, d_tokens, n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(pass(net, logits, stream));
    if (d_targets == NULL) return cudaSuccess;
    CUDA_CHECK(softmax_cross_entropy(array(net, net->config.layers, LOSSES), kept.grad_logits,
                                     logits, d_targets, (int)n, net->config.vocab, -1, stream));
    kept.ready = true;
    if (d_loss == NULL) return cudaSuccess;
    CUDA_CHECK(reduce_sum(d_loss, array(net, net->config.layers, LOSSES), n, stream));
    scale_kernel<<<1, 1, 0, stream>>>(d_loss, 1.0f / n);
    return cudaGetLastError();
}

/* wte is used at both ends: the product overwrites its gradient, the embedding adds to it. */
cudaError_t __wrap_gpt_backward(gpt *net, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const int n = kept.batch * kept.seq, C = c->channels, V = c->vocab, L = c->layers;
    const size_t norm = llama_params(c) - C;
    const float *p = net->params;
    float *g = net->grad, *grad_x = array(net, L, GRAD_X), *grad_y = array(net, L, GRAD_Y);
    if (!kept.ready) return cudaErrorInvalidValue;
    kept.ready = false;
    CUDA_CHECK(linear_backward(grad_y, g, NULL, kept.grad_logits, array(net, L, LAST), p, n, C, V,
                               stream));
    CUDA_CHECK(rmsnorm_backward(grad_x, g + norm, grad_y, array(net, L, X), p + norm,
                                array(net, L, INV1), n, C, stream));
    for (int i = L - 1; i >= 0; i--) CUDA_CHECK(layer_backward(net, i, stream));
    return embedding_backward(g, NULL, grad_x, kept.tokens, kept.batch, kept.seq, C, V, stream);
}

cudaError_t __wrap_gpt_update(gpt *net, float lr, float beta1, float beta2, float eps,
                              float weight_decay, float max_norm, cudaStream_t stream)
{
    const size_t n = llama_params(&net->config), matrices = llama_norms(&net->config);
    const adam_group groups[] = {{matrices, weight_decay}, {n - matrices, 0.0f}};
    if (max_norm > 0.0f) CUDA_CHECK(global_norm_clip(kept.norm, net->grad, n, max_norm, stream));
    CUDA_CHECK(adam_update_groups(net->params, net->m, net->v, net->grad, groups, 2, lr, beta1,
                                  beta2, eps, net->step + 1, stream));
    net->step++;
    return cudaSuccess;
}

} /* extern "C" */

cudaError_t llama_next(gpt *net, float *h_logits, const int *h_text, int seen)
{
    const int V = net->config.vocab;
    CUDA_CHECK(reserve(net, 1, seen));
    CUDA_CHECK(cudaMemcpy(kept.tokens, h_text, seen * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(pass(net, kept.logits, 0));
    return cudaMemcpy(h_logits, kept.logits + (size_t)(seen - 1) * V, V * sizeof(float),
                      cudaMemcpyDeviceToHost);
}
