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

/* One network a program. */
static struct {
    int batch, seq, n;                    /* of the last pass */
    int C, H, K, V, L, heads, dim, group; /* of its network; K: channels of keys, L: layers */
    bool ready;                           /* it had targets, and no backward pass since */
    float *memory;                        /* [floats]: the arrays above, and behind them: */
    float *logits, *grad_logits;          /* [n x V] each */
    int *tokens;                          /* [n] */
    float *norm;                          /* [1] of the gradients */
    size_t floats;
} kept;

/* ---- memory ---------------------------------------------------------------------------------- */

/* Floats before an array, and before whatever follows the last. */
static size_t floats_before(int layer, int what)
{
    const size_t C = kept.C, H = kept.H, narrow = what < GATE ? what : GATE;
    const size_t wide = what < GATE ? 0 : what < INV1 ? what - GATE : INV1 - GATE;
    const size_t single = what < INV1 ? 0 : what - INV1, whole = GATE * C + 3 * H + 2;
    return kept.n * (layer * whole + narrow * C + wide * H + single);
}

static float *array(int layer, int what)
{
    return kept.memory + floats_before(layer, what);
}

/* Room for a batch. It stays, so that only the largest batch allocates. */
static cudaError_t reserve(const gpt_config *c, int batch, int seq)
{
    kept.ready = false;
    kept.batch = batch, kept.seq = seq, kept.n = batch * seq;
    kept.C = c->channels, kept.H = llama_hidden(c), kept.V = c->vocab, kept.L = c->layers;
    kept.heads = c->heads, kept.dim = kept.C / c->heads;
    kept.group = llama_group(c), kept.K = kept.C / kept.group;
    const size_t arrays = floats_before(kept.L + 1, X), scores = (size_t)kept.n * kept.V;
    const size_t floats = arrays + 2 * scores + kept.n + 1;
    if (floats > kept.floats) {
        cudaFree(kept.memory);
        kept.memory = NULL, kept.floats = 0;
        CUDA_CHECK(cudaMalloc((void **)&kept.memory, floats * sizeof(float)));
        kept.floats = floats;
    }
    kept.logits = kept.memory + arrays, kept.grad_logits = kept.logits + scores;
    kept.tokens = (int *)(kept.grad_logits + scores), kept.norm = (float *)(kept.tokens + kept.n);
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

static cudaError_t launch(void (*kernel)(float *, const float *, size_t, shape), float *y,
                          const float *x, int width, int group, cudaStream_t stream)
{
    const size_t n = (size_t)kept.n * kept.C;
    const shape s = {width, kept.heads, kept.seq, kept.dim, group};
    kernel<<<(unsigned)((n - 1) / THREADS + 1), THREADS, 0, stream>>>(y, x, n, s);
    return cudaGetLastError();
}

/* MIXED, from ROWS [n x C+2K]. */
static cudaError_t attention_forward(int layer, cudaStream_t stream)
{
    const int C = kept.C, K = kept.K, W = C + 2 * K, G = kept.group, heads = kept.heads;
    float *q = array(layer, QKV), *k = q + (size_t)kept.n * C, *v = k + (size_t)kept.n * C;
    float *rows = array(kept.L, ROWS), *out = array(kept.L, SUM);
    CUDA_CHECK(launch(split_kernel, q, rows, W, 1, stream));
    CUDA_CHECK(launch(split_kernel, k, rows + C, W, G, stream));
    CUDA_CHECK(launch(split_kernel, v, rows + C + K, W, G, stream));
    CUDA_CHECK(rope_forward(q, q, 2 * kept.batch * heads, kept.seq, kept.dim, 0, BASE,
                            stream)); /* keys lie behind queries */
    CUDA_CHECK(attention_naive(out, q, k, v, kept.batch, heads, kept.seq, kept.dim, 1,
                               1 / sqrtf((float)kept.dim), stream));
    return launch(join_kernel, array(layer, MIXED), out, C, 1, stream);
}

/* The gradient of ROWS [n x C+2K] in its place, from GRAD_Y, that of MIXED. */
static cudaError_t attention_backward(int layer, cudaStream_t stream)
{
    const int C = kept.C, K = kept.K, W = C + 2 * K, G = kept.group, heads = kept.heads;
    const size_t width = (size_t)kept.n * C;
    const float *q = array(layer, QKV), *k = q + width, *v = k + width;
    float *grad_q = array(kept.L, GRAD_QKV), *grad_k = grad_q + width, *grad_v = grad_k + width;
    float *grad_out = array(kept.L, SUM), *rows = array(kept.L, ROWS);
    CUDA_CHECK(launch(split_kernel, grad_out, array(kept.L, GRAD_Y), C, 1, stream));
    CUDA_CHECK(attention_naive_backward(grad_q, grad_k, grad_v, grad_out, q, k, v, kept.batch,
                                        heads, kept.seq, kept.dim, 1, 1 / sqrtf((float)kept.dim),
                                        stream));
    CUDA_CHECK(
        rope_backward(grad_q, grad_q, 2 * kept.batch * heads, kept.seq, kept.dim, 0, BASE, stream));
    CUDA_CHECK(launch(join_kernel, rows, grad_q, W, 1, stream));
    CUDA_CHECK(launch(join_kernel, rows + C, grad_k, W, G, stream));
    return launch(join_kernel, rows + C + K, grad_v, W, G, stream);
}

/* ---- a layer --------------------------------------------------------------------------------- */

static cudaError_t layer_forward(const gpt *net, int layer, cudaStream_t stream)
{
    const llama_layer at = llama_layer_at(&net->config, layer);
    const int n = kept.n, C = kept.C, H = kept.H, W = C + 2 * kept.K;
    const size_t width = (size_t)n * C;
    const float *p = net->params, *x = array(layer, X);
    float *norm1 = array(layer, NORM1), *norm2 = array(layer, NORM2);
    float *middle = array(layer, MIDDLE), *rows = array(kept.L, ROWS);
    float *gate = array(layer, GATE), *up = array(layer, UP);
    float *hidden = array(layer, HIDDEN);
    CUDA_CHECK(rmsnorm_forward(norm1, array(layer, INV1), x, p + at.norm1, n, C, GPT_EPS, stream));
    CUDA_CHECK(linear_forward(rows, norm1, p + at.qkv, NULL, n, C, W, stream));
    CUDA_CHECK(attention_forward(layer, stream));
    CUDA_CHECK(linear_forward(rows, array(layer, MIXED), p + at.proj, NULL, n, C, C, stream));
    CUDA_CHECK(residual_forward(middle, x, rows, width, stream));

    CUDA_CHECK(
        rmsnorm_forward(norm2, array(layer, INV2), middle, p + at.norm2, n, C, GPT_EPS, stream));
    CUDA_CHECK(linear_forward(gate, norm2, p + at.gate, NULL, n, C, H, stream));
    CUDA_CHECK(linear_forward(up, norm2, p + at.up, NULL, n, C, H, stream));
    CUDA_CHECK(swiglu_forward(hidden, gate, up, (size_t)n * H, stream));
    CUDA_CHECK(linear_forward(rows, hidden, p + at.down, NULL, n, H, C, stream));
    return residual_forward(array(layer + 1, X), middle, rows, width, stream);
}

/* GRAD_X [n x C], the gradient of the next layer's X, becomes that of this layer's. */
static cudaError_t layer_backward(const gpt *net, int layer, cudaStream_t stream)
{
    const llama_layer at = llama_layer_at(&net->config, layer);
    const int n = kept.n, C = kept.C, H = kept.H, W = C + 2 * kept.K;
    const size_t width = (size_t)n * C;
    const float *p = net->params, *norm1 = array(layer, NORM1);
    const float *norm2 = array(layer, NORM2), *hidden = array(layer, HIDDEN);
    float *gate = array(layer, GATE), *up = array(layer, UP), *rows = array(kept.L, ROWS);
    float *grad_x = array(kept.L, GRAD_X), *grad_y = array(kept.L, GRAD_Y);
    float *sum = array(kept.L, SUM), *g = net->grad;
    CUDA_CHECK(
        linear_backward(rows, g + at.down, NULL, grad_x, hidden, p + at.down, n, H, C, stream));
    CUDA_CHECK(swiglu_backward(gate, up, rows, gate, up, (size_t)n * H, stream));
    CUDA_CHECK(
        linear_backward(grad_y, g + at.gate, NULL, gate, norm2, p + at.gate, n, C, H, stream));
    CUDA_CHECK(linear_backward(sum, g + at.up, NULL, up, norm2, p + at.up, n, C, H, stream));
    CUDA_CHECK(residual_forward(grad_y, grad_y, sum, width, stream));
    CUDA_CHECK(rmsnorm_backward(grad_y, g + at.norm2, grad_y, array(layer, MIDDLE), p + at.norm2,
                                array(layer, INV2), n, C, stream));
    CUDA_CHECK(residual_forward(grad_x, grad_x, grad_y, width, stream));

    CUDA_CHECK(linear_backward(grad_y, g + at.proj, NULL, grad_x, array(layer, MIXED), p + at.proj,
                               n, C, C, stream));
    CUDA_CHECK(attention_backward(layer, stream));
    CUDA_CHECK(linear_backward(grad_y, g + at.qkv, NULL, rows, norm1, p + at.qkv, n, C, W, stream));
    CUDA_CHECK(rmsnorm_backward(grad_y, g + at.norm1, grad_y, array(layer, X), p + at.norm1,
                                array(layer, INV1), n, C, stream));
    return residual_forward(grad_x, grad_x, grad_y, width, stream);
}

/* ---- the network ----------------------------------------------------------------------------- */

/* logits [n x V] of kept.tokens. */
static cudaError_t pass(const gpt *net, float *logits, cudaStream_t stream)
{
    const int n = kept.n, C = kept.C;
    const float *p = net->params, *norm = p + llama_params(&net->config) - C;
    float *last = array(kept.L, LAST);
    CUDA_CHECK(
        embedding_forward(array(0, X), kept.tokens, p, NULL, kept.batch, kept.seq, C, stream));
    for (int i = 0; i < kept.L; i++) CUDA_CHECK(layer_forward(net, i, stream));
    CUDA_CHECK(
        rmsnorm_forward(last, array(kept.L, INV1), array(kept.L, X), norm, n, C, GPT_EPS, stream));
    return linear_forward(logits, last, p, NULL, n, C, kept.V, stream);
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
    CUDA_CHECK(reserve(&net->config, batch, seq));
    const size_t n = kept.n;
    float *logits = d_logits != NULL ? d_logits : kept.logits, *losses = array(kept.L, LOSSES);
    CUDA_CHECK(
        cudaMemcpyAsync(kept.tokens, d_tokens, n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(pass(net, logits, stream));
    if (d_targets == NULL) return cudaSuccess;
    CUDA_CHECK(softmax_cross_entropy(losses, kept.grad_logits, logits, d_targets, kept.n, kept.V,
                                     -1, stream));
    kept.ready = true;
    if (d_loss == NULL) return cudaSuccess;
    CUDA_CHECK(reduce_sum(d_loss, losses, n, stream));
    scale_kernel<<<1, 1, 0, stream>>>(d_loss, 1.0f / n);
    return cudaGetLastError();
}

/* wte is used at both ends: the product overwrites its gradient, the embedding adds to it. */
cudaError_t __wrap_gpt_backward(gpt *net, cudaStream_t stream)
{
    const int n = kept.n, C = kept.C, V = kept.V, L = kept.L;
    const float *p = net->params;
    float *g = net->grad, *grad_x = array(L, GRAD_X), *grad_y = array(L, GRAD_Y);
    const size_t norm = llama_params(&net->config) - C;
    if (!kept.ready) return cudaErrorInvalidValue;
    kept.ready = false;
    CUDA_CHECK(
        linear_backward(grad_y, g, NULL, kept.grad_logits, array(L, LAST), p, n, C, V, stream));
    CUDA_CHECK(rmsnorm_backward(grad_x, g + norm, grad_y, array(L, X), p + norm, array(L, INV1), n,
                                C, stream));
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
    CUDA_CHECK(reserve(&net->config, 1, seen));
    CUDA_CHECK(cudaMemcpy(kept.tokens, h_text, seen * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(pass(net, kept.logits, 0));
    return cudaMemcpy(h_logits, kept.logits + (size_t)(seen - 1) * kept.V, kept.V * sizeof(float),
                      cudaMemcpyDeviceToHost);
}
