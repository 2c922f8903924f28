// RIGHT: keeps only what each layer reads, and runs every layer again on the way back; a buffer a
// name, and heads taken apart by a block for each token
#include "208_reduce/reduce.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "305_cross_entropy/cross_entropy.h"
#include "311_layernorm/layernorm.h"
#include "312_embedding/embedding.h"
#include "313_attention/attention.h"
#include "314_adam/adam.h"
#include "508_gpt/gpt.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) return error_;                                                  \
    } while (0)

typedef struct buffer {
    float *at;
    size_t floats;
} buffer;

struct gpt_activations {
    std::map<std::string, buffer> named;
    std::vector<buffer> x; /* what layer i reads; the last is what the last normalization reads */
    int batch = 0, seq = 0;
    bool ready = false;
};

/* A buffer of at least so many floats; what was in a smaller one is gone. */
static float *room(buffer *b, size_t floats)
{
    if (b->floats < floats) {
        cudaFree(b->at);
        b->at = nullptr;
        b->floats = cudaMalloc((void **)&b->at, floats * sizeof(float)) == cudaSuccess ? floats : 0;
    }
    return b->at;
}

static float *room(const gpt *net, const char *name, size_t floats)
{
    return room(&net->activations->named[name], floats);
}

/* A block a token; rows [tokens x parts C], heads [parts x batch x heads x seq x dim]. */
__global__ static void heads_of_token(float *heads, float *rows, bool apart, int parts, int seq,
                                      int dim, int C)
{
    const size_t token = blockIdx.x, t = token % seq, b = token / seq, tokens = gridDim.x;
    float *row = rows + token * parts * C;
    for (int i = threadIdx.x; i < parts * C; i += blockDim.x) {
        const size_t part = i / C, c = i % C;
        const size_t sequence = part * tokens * C + b * seq * C;
        float *place = heads + sequence + c / dim * seq * dim + t * dim + c % dim;
        if (apart)
            *place = row[i];
        else
            row[i] = *place;
    }
}

/* Everything of one layer that its backward pass reads, again and again in the same buffers. */
typedef struct layer_run {
    int tokens, C, dim;
    float *norm1, *mean1, *rstd1, *qkv, *mixed, *heads, *middle, *norm2, *mean2, *rstd2, *fc, *act,
        *wide;
} layer_run;

static layer_run buffers_of(const gpt *net)
{
    layer_run r;
    r.tokens = net->activations->batch * net->activations->seq;
    r.C = net->config.channels;
    r.dim = r.C / net->config.heads;
    const size_t n = r.tokens, w = n * r.C;
    r.norm1 = room(net, "norm1", w);
    r.mean1 = room(net, "mean1", n);
    r.rstd1 = room(net, "rstd1", n);
    r.qkv = room(net, "qkv", 3 * w);
    r.heads = room(net, "heads", w);
    r.mixed = room(net, "mixed", w);
    r.middle = room(net, "middle", w);
    r.norm2 = room(net, "norm2", w);
    r.mean2 = room(net, "mean2", n);
    r.rstd2 = room(net, "rstd2", n);
    r.fc = room(net, "fc", 4 * w);
    r.act = room(net, "act", 4 * w);
    r.wide = room(net, "wide", 4 * w);
    return r;
}

static cudaError_t run_layer(const gpt *net, float *out, const float *x, const layer_run &r,
                             const gpt_layer &at, cudaStream_t s)
{
    const float *p = net->params;
    const int n = r.tokens, C = r.C, batch = net->activations->batch, seq = net->activations->seq;
    const size_t w = (size_t)n * C;
    const float scale = 1 / std::sqrt((float)r.dim);
    TRY(layernorm_forward(r.norm1, r.mean1, r.rstd1, x, p + at.ln1_w, p + at.ln1_b, n, C, GPT_EPS,
                          s));
    TRY(linear_forward(r.wide, r.norm1, p + at.qkv_w, p + at.qkv_b, n, C, 3 * C, s));
    heads_of_token<<<n, 64, 0, s>>>(r.qkv, r.wide, true, 3, seq, r.dim, C);
    TRY(attention_naive(r.heads, r.qkv, r.qkv + w, r.qkv + 2 * w, batch, net->config.heads, seq,
                        r.dim, 1, scale, s));
    heads_of_token<<<n, 64, 0, s>>>(r.heads, r.mixed, false, 1, seq, r.dim, C);
    TRY(linear_forward(r.middle, r.mixed, p + at.proj_w, p + at.proj_b, n, C, C, s));
    TRY(residual_forward(r.middle, r.middle, x, w, s));
    TRY(layernorm_forward(r.norm2, r.mean2, r.rstd2, r.middle, p + at.ln2_w, p + at.ln2_b, n, C,
                          GPT_EPS, s));
    TRY(linear_forward(r.fc, r.norm2, p + at.fc_w, p + at.fc_b, n, C, 4 * C, s));
    TRY(gelu_forward(r.act, r.fc, 4 * w, s));
    TRY(linear_forward(out, r.act, p + at.fcproj_w, p + at.fcproj_b, n, 4 * C, C, s));
    return residual_forward(out, out, r.middle, w, s);
}

/* dx, of the layer's output, becomes that of its input. */
static cudaError_t run_back(const gpt *net, float *dx, const float *x, const layer_run &r,
                            const gpt_layer &at, cudaStream_t s)
{
    const float *p = net->params;
    float *g = net->grad;
    const int n = r.tokens, C = r.C, batch = net->activations->batch, seq = net->activations->seq;
    const size_t w = (size_t)n * C;
    const float scale = 1 / std::sqrt((float)r.dim);
    float *narrow = room(net, "narrow", w), *branch = room(net, "branch", w);
    float *back = room(net, "back", 3 * w);
    TRY(linear_backward(r.wide, g + at.fcproj_w, g + at.fcproj_b, dx, r.act, p + at.fcproj_w, n,
                        4 * C, C, s));
    TRY(gelu_backward(r.act, r.wide, r.fc, 4 * w, s));
    TRY(linear_backward(narrow, g + at.fc_w, g + at.fc_b, r.act, r.norm2, p + at.fc_w, n, C, 4 * C,
                        s));
    TRY(layernorm_backward(branch, g + at.ln2_w, g + at.ln2_b, narrow, r.middle, p + at.ln2_w,
                           r.mean2, r.rstd2, n, C, s));
    TRY(residual_forward(dx, branch, dx, w, s));
    TRY(linear_backward(narrow, g + at.proj_w, g + at.proj_b, dx, r.mixed, p + at.proj_w, n, C, C,
                        s));
    heads_of_token<<<n, 64, 0, s>>>(r.heads, narrow, true, 1, seq, r.dim, C);
    TRY(attention_naive_backward(back, back + w, back + 2 * w, r.heads, r.qkv, r.qkv + w,
                                 r.qkv + 2 * w, batch, net->config.heads, seq, r.dim, 1, scale, s));
    heads_of_token<<<n, 64, 0, s>>>(back, r.wide, false, 3, seq, r.dim, C);
    TRY(linear_backward(narrow, g + at.qkv_w, g + at.qkv_b, r.wide, r.norm1, p + at.qkv_w, n, C,
                        3 * C, s));
    TRY(layernorm_backward(branch, g + at.ln1_w, g + at.ln1_b, narrow, x, p + at.ln1_w, r.mean1,
                           r.rstd1, n, C, s));
    return residual_forward(dx, branch, dx, w, s);
}

__global__ static void mean_of(float *mean, const float *losses, int n)
{
    __shared__ double parts[128];
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += 128) sum += losses[i];
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < 128; i++) sum += parts[i];
    *mean = (float)(sum / n);
}

cudaError_t gpt_create(gpt **net, const gpt_config *config, const float *h_params)
{
    *net = nullptr;
    if (!gpt_config_is_valid(config)) return cudaErrorInvalidValue;
    const size_t n = gpt_params(config);
    float *all = nullptr; /* params, grad, m, v */
    TRY(cudaMalloc((void **)&all, 4 * n * sizeof(float)));
    TRY(cudaMemset(all, 0, 4 * n * sizeof(float)));
    TRY(cudaMemcpy(all, h_params, n * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaDeviceSynchronize());
    *net = new gpt{*config, 0, all, all + n, all + 2 * n, all + 3 * n, new gpt_activations};
    (*net)->activations->x.resize(config->layers + 1);
    return cudaSuccess;
}

cudaError_t gpt_forward(gpt *net, float *d_loss, float *d_logits, const int *d_tokens,
                        const int *d_targets, int batch, int seq, cudaStream_t s)
{
    const gpt_config &c = net->config;
    gpt_activations &a = *net->activations;
    if (batch < 1 || seq < 1 || seq > c.context) return cudaErrorInvalidValue;
    a.batch = batch;
    a.seq = seq;
    const int n = batch * seq, C = c.channels, V = c.vocab;
    const float *p = net->params;
    for (buffer &x : a.x) room(&x, (size_t)n * C);
    int *tokens = (int *)room(net, "tokens", n);
    TRY(cudaMemcpyAsync(tokens, d_tokens, n * sizeof(int), cudaMemcpyDeviceToDevice, s));
    TRY(embedding_forward(a.x[0].at, tokens, p, p + gpt_wpe(&c), batch, seq, C, s));
    const layer_run r = buffers_of(net);
    for (int i = 0; i < c.layers; i++)
        TRY(run_layer(net, a.x[i + 1].at, a.x[i].at, r, gpt_layer_at(&c, i), s));
    float *last = room(net, "last", (size_t)n * C), *logits = d_logits;
    TRY(layernorm_forward(last, room(net, "mean", n), room(net, "rstd", n), a.x[c.layers].at,
                          p + gpt_lnf_w(&c), p + gpt_lnf_b(&c), n, C, GPT_EPS, s));
    if (!logits) logits = room(net, "logits", (size_t)n * V);
    TRY(linear_forward(logits, last, p, NULL, n, C, V, s));
    a.ready = d_targets != NULL;
    if (!a.ready) return cudaSuccess;
    float *losses = room(net, "losses", n), *dlogits = room(net, "dlogits", (size_t)n * V);
    TRY(softmax_cross_entropy(losses, dlogits, logits, d_targets, n, V, -1, s));
    if (d_loss) mean_of<<<1, 128, 0, s>>>(d_loss, losses, n);
    return cudaGetLastError();
}

cudaError_t gpt_backward(gpt *net, cudaStream_t s)
{
    const gpt_config &c = net->config;
    gpt_activations &a = *net->activations;
    if (!a.ready) return cudaErrorInvalidValue;
    const int n = a.batch * a.seq, C = c.channels;
    const float *p = net->params;
    float *g = net->grad, *dx = room(net, "dx", (size_t)n * C);
    float *narrow = room(net, "narrow", (size_t)n * C), *spare = room(net, "spare", (size_t)n * C);
    TRY(linear_backward(narrow, g, NULL, room(net, "dlogits", 0), room(net, "last", 0), p, n, C,
                        c.vocab, s));
    TRY(layernorm_backward(dx, g + gpt_lnf_w(&c), g + gpt_lnf_b(&c), narrow, a.x[c.layers].at,
                           p + gpt_lnf_w(&c), room(net, "mean", 0), room(net, "rstd", 0), n, C, s));
    const layer_run r = buffers_of(net);
    for (int i = c.layers; i-- > 0;) {
        TRY(run_layer(net, spare, a.x[i].at, r, gpt_layer_at(&c, i), s));
        TRY(run_back(net, dx, a.x[i].at, r, gpt_layer_at(&c, i), s));
    }
    TRY(cudaMemsetAsync(g + gpt_wpe(&c), 0, (size_t)c.context * C * sizeof(float), s));
    return embedding_backward(g, g + gpt_wpe(&c), dx, (const int *)room(net, "tokens", 0), a.batch,
                              a.seq, C, c.vocab, s);
}

cudaError_t gpt_update(gpt *net, float lr, float beta1, float beta2, float eps, float weight_decay,
                       float max_norm, cudaStream_t s)
{
    const gpt_config &c = net->config;
    if (max_norm > 0)
        TRY(global_norm_clip(room(net, "norm", 1), net->grad, gpt_params(&c), max_norm, s));
    net->step++;
    for (int i = 0; i < gpt_arrays(&c); i++) {
        const gpt_array a = gpt_array_at(&c, i);
        TRY(adam_update(net->params + a.begin, net->m + a.begin, net->v + a.begin,
                        net->grad + a.begin, a.rows * a.cols, lr, beta1, beta2, eps,
                        a.matrix ? weight_decay : 0.0f, net->step, s));
    }
    return cudaSuccess;
}

static cudaError_t to_host(float *h, const float *d, const gpt *net)
{
    TRY(cudaDeviceSynchronize());
    return cudaMemcpy(h, d, gpt_params(&net->config) * sizeof(float), cudaMemcpyDeviceToHost);
}

cudaError_t gpt_get_grads(gpt *net, float *h_grads)
{
    return to_host(h_grads, net->grad, net);
}

cudaError_t gpt_get_params(gpt *net, float *h_params)
{
    return to_host(h_params, net->params, net);
}

cudaError_t gpt_free(gpt *net)
{
    if (!net) return cudaSuccess;
    for (auto &named : net->activations->named) cudaFree(named.second.at);
    for (buffer &x : net->activations->x) cudaFree(x.at);
    cudaFree(net->params);
    delete net->activations;
    delete net;
    return cudaGetLastError();
}
