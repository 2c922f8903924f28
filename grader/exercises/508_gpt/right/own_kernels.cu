// RIGHT: no layer of earlier exercises: a thread an element everywhere, attention straight from the
// rows of queries, keys and values, and every gradient begins at 0 and is added to
#include "208_reduce/reduce.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "305_cross_entropy/cross_entropy.h"
#include "311_layernorm/layernorm.h"
#include "312_embedding/embedding.h"
#include "313_attention/attention.h"
#include "314_adam/adam.h"
#include "508_gpt/gpt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EACH(i, n)                                                                                 \
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (size_t)(n);                \
         i += (size_t)gridDim.x * blockDim.x)
#define RUN(kernel, n, ...)                                                                        \
    kernel<<<(unsigned)(((n) + 127) / 128 < 4096 ? ((n) + 127) / 128 : 4096), 128, 0, stream>>>(   \
        __VA_ARGS__)

/* One allocation: of layer i, LAYER rows of C floats a token and 4 + 2 heads numbers a token. */
enum { NORM1, QKV, MIXED = QKV + 3, MIDDLE, NORM2, FC, ACT = FC + 4, OUT = ACT + 4, LAYER };

struct gpt_activations {
    float *all, *norm;
    size_t floats;
    int batch, seq, goes_back;
    /* parts of all */
    int *tokens;
    float *x, *last, *stats, *logits, *losses, *branch, *wide, *qkv, *grad_x;
    float *of_layers; /* [layers][LAYER][tokens x C] */
    float *numbers; /* [layers][4 + 2 heads][tokens]: mean, rstd twice; logarithm of sums, means */
};

/* c[m x n] (+)= a b + bias, with strides of a and b along rows and columns */
__global__ static void product(float *c, bool add, const float *a, size_t ai, size_t ak,
                               const float *b, size_t bk, size_t bj, const float *bias, size_t m,
                               size_t n, size_t k)
{
    EACH(e, m * n)
    {
        const float *left = a + e / n * ai, *right = b + e % n * bj;
        float sum = bias ? bias[e % n] : 0;
        for (size_t l = 0; l < k; l++) sum += left[l * ak] * right[l * bk];
        c[e] = add ? c[e] + sum : sum;
    }
}

__global__ static void embed(float *x, const int *tokens, const float *wte, const float *wpe,
                             size_t n, int seq, int C)
{
    EACH(i, n * C) x[i] = wte[(size_t)tokens[i / C] * C + i % C] + wpe[i / C % seq * C + i % C];
}

/* An element of wte looks for its token. */
__global__ static void embed_back(float *wte, float *wpe, const float *grad, const int *tokens,
                                  size_t n, int seq, int V, int T, int C)
{
    EACH(i, ((size_t)V + T) * C)
    {
        const size_t row = i / C, c = i % C;
        float sum = 0;
        for (size_t t = 0; t < n; t++) {
            if (row < V ? tokens[t] == row : t % seq == row - V) sum += grad[t * C + c];
        }
        if (row < V)
            wte[i] += sum;
        else
            wpe[i - (size_t)V * C] += sum;
    }
}

__global__ static void normalize(float *y, float *mean, float *rstd, const float *x, const float *w,
                                 const float *b, size_t n, int C)
{
    EACH(r, n)
    {
        float sum = 0, square = 0;
        for (int c = 0; c < C; c++) sum += x[r * C + c];
        const float m = sum / C;
        for (int c = 0; c < C; c++) square += (x[r * C + c] - m) * (x[r * C + c] - m);
        mean[r] = m;
        rstd[r] = 1 / sqrtf(square / C + GPT_EPS);
        for (int c = 0; c < C; c++) y[r * C + c] = (x[r * C + c] - m) * rstd[r] * w[c] + b[c];
    }
}

/* grad_x += ... : what went past this branch is in it */
__global__ static void normalize_back(float *grad_x, const float *grad_y, const float *x,
                                      const float *w, const float *mean, const float *rstd,
                                      size_t n, int C)
{
    EACH(r, n)
    {
        float sum = 0, dot = 0;
        for (int c = 0; c < C; c++) {
            const float g = grad_y[r * C + c] * w[c];
            sum += g;
            dot += g * (x[r * C + c] - mean[r]) * rstd[r];
        }
        for (int c = 0; c < C; c++) {
            const float hat = (x[r * C + c] - mean[r]) * rstd[r];
            grad_x[r * C + c] += rstd[r] * (grad_y[r * C + c] * w[c] - sum / C - hat * dot / C);
        }
    }
}

__global__ static void normalize_params(float *grad_w, float *grad_b, const float *grad_y,
                                        const float *x, const float *mean, const float *rstd,
                                        size_t n, int C)
{
    EACH(c, C)
    for (size_t r = 0; r < n; r++) {
        grad_w[c] += grad_y[r * C + c] * (x[r * C + c] - mean[r]) * rstd[r];
        grad_b[c] += grad_y[r * C + c];
    }
}

__global__ static void column_sums(float *out, const float *x, size_t n, int C)
{
    EACH(c, C) for (size_t r = 0; r < n; r++) out[c] += x[r * C + c];
}

#define ROOT 0.7978845608f

__global__ static void gelu(float *y, const float *x, size_t n)
{
    EACH(i, n) y[i] = 0.5f * x[i] * (1 + tanhf(ROOT * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

__global__ static void gelu_back(float *grad, const float *x, size_t n)
{
    EACH(i, n)
    {
        const float t = tanhf(ROOT * (x[i] + 0.044715f * x[i] * x[i] * x[i]));
        const float slope = ROOT * (1 + 3 * 0.044715f * x[i] * x[i]);
        grad[i] *= 0.5f * (1 + t) + 0.5f * x[i] * (1 - t * t) * slope;
    }
}

__global__ static void add(float *y, const float *x, size_t n)
{
    EACH(i, n) y[i] += x[i];
}

__device__ static float score(const float *q, const float *k, int dim)
{
    float sum = 0;
    for (int d = 0; d < dim; d++) sum += q[d] * k[d];
    return sum / sqrtf((float)dim);
}

/* A thread a query of a head: logarithm of the sum of its weights, and the weighted values. */
__global__ static void attend(float *out, float *logs, const float *qkv, size_t n, int seq,
                              int heads, int dim)
{
    const int C = heads * dim;
    EACH(i, n * heads)
    {
        const size_t t = i / heads, begin = t / seq * seq, at = i % heads * dim;
        float most = -INFINITY, sum = 0;
        for (size_t s = begin; s <= t; s++)
            most = fmaxf(most, score(qkv + t * 3 * C + at, qkv + (s * 3 + 1) * C + at, dim));
        for (int d = 0; d < dim; d++) out[t * C + at + d] = 0;
        for (size_t s = begin; s <= t; s++) {
            float p = expf(score(qkv + t * 3 * C + at, qkv + (s * 3 + 1) * C + at, dim) - most);
            sum += p;
            for (int d = 0; d < dim; d++) out[t * C + at + d] += p * qkv[(s * 3 + 2) * C + at + d];
        }
        for (int d = 0; d < dim; d++) out[t * C + at + d] /= sum;
        logs[i] = most + logf(sum);
    }
}

/* The weight of value v for a query, and what the score's gradient is. */
__device__ static float weight(float *grad_score, const float *q, const float *k, const float *v,
                               const float *grad_out, const float *out, float logs, int dim)
{
    const float p = expf(score(q, k, dim) - logs);
    float dot = 0;
    for (int d = 0; d < dim; d++) dot += grad_out[d] * (v[d] - out[d]);
    *grad_score = p * dot / sqrtf((float)dim);
    return p;
}

/* A thread a token and head: as a query it goes back over the keys, as a key over the queries. */
__global__ static void attend_back(float *grad, const float *grad_out, const float *out,
                                   const float *logs, const float *qkv, size_t n, int seq,
                                   int heads, int dim)
{
    const int C = heads * dim;
    EACH(i, n * heads)
    {
        const size_t me = i / heads, head = i % heads, at = head * dim, begin = me / seq * seq;
        const float *q = qkv + me * 3 * C + at, *k = q + C, *v = k + C;
        float *grad_q = grad + me * 3 * C + at, *grad_k = grad_q + C, *grad_v = grad_k + C, g;
        for (int d = 0; d < dim; d++) grad_q[d] = grad_k[d] = grad_v[d] = 0;
        for (size_t s = begin; s <= me; s++) {
            const float *key = qkv + (s * 3 + 1) * C + at;
            weight(&g, q, key, key + C, grad_out + me * C + at, out + me * C + at, logs[i], dim);
            for (int d = 0; d < dim; d++) grad_q[d] += g * key[d];
        }
        for (size_t t = me; t < begin + seq; t++) {
            const float *query = qkv + t * 3 * C + at, *go = grad_out + t * C + at;
            const float p =
                weight(&g, query, k, v, go, out + t * C + at, logs[t * heads + head], dim);
            for (int d = 0; d < dim; d++) {
                grad_k[d] += g * query[d];
                grad_v[d] += p * go[d];
            }
        }
    }
}

/* logits become their gradient, if the caller has a copy or does not want them */
__global__ static void cross_entropy(float *losses, float *grad, const float *logits,
                                     const int *targets, size_t n, int V)
{
    EACH(r, n)
    {
        const float *x = logits + r * V;
        float most = x[0], sum = 0;
        for (int v = 1; v < V; v++) most = fmaxf(most, x[v]);
        for (int v = 0; v < V; v++) sum += expf(x[v] - most);
        losses[r] = logf(sum) + most - x[targets[r]];
        for (int v = 0; v < V; v++)
            grad[r * V + v] = (expf(x[v] - most) / sum - (v == targets[r])) / n;
    }
}

__global__ static void mean_kernel(float *loss, const float *losses, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += losses[i];
    *loss = sum / n;
}

__global__ static void norm_kernel(float *norm, const float *grad, size_t n)
{
    __shared__ double sums[128];
    double sum = 0;
    EACH(i, n) sum += (double)grad[i] * grad[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < 128; i++) sum += sums[i];
    *norm = sqrt(sum);
}

__global__ static void adam(float *param, float *m, float *v, float *grad, const float *norm,
                            float max_norm, size_t n, float lr, float beta1, float beta2, float eps,
                            float decay, float unbias1, float unbias2)
{
    EACH(i, n)
    {
        if (max_norm > 0 && *norm > max_norm) grad[i] *= max_norm / *norm;
        m[i] = beta1 * m[i] + (1 - beta1) * grad[i];
        v[i] = beta2 * v[i] + (1 - beta2) * grad[i] * grad[i];
        param[i] -= lr * (m[i] / unbias1 / (sqrtf(v[i] / unbias2) + eps) + decay * param[i]);
    }
}

/* ---- the network ----------------------------------------------------------------------------- */

static float *part(const gpt *net, int layer, int which)
{
    const gpt_activations *a = net->activations;
    const size_t width = (size_t)a->batch * a->seq * net->config.channels;
    if (layer < 0) return a->x;
    return a->of_layers + ((size_t)layer * LAYER + which) * width;
}

static float *number(const gpt *net, int layer, int which)
{
    const gpt_activations *a = net->activations;
    return a->numbers +
           ((size_t)layer * (4 + net->config.heads) + which) * ((size_t)a->batch * a->seq);
}

static void linear(float *y, const float *x, const gpt *net, size_t w, size_t b, size_t n,
                   size_t in, size_t out, cudaStream_t stream)
{
    const float *p = net->params;
    RUN(product, n * out, y, false, x, in, 1, p + w, 1, in, p + b, n, out, in);
}

static void linear_back(float *grad_x, const float *grad_y, const float *x, const gpt *net,
                        size_t w, size_t b, size_t n, size_t in, size_t out, cudaStream_t stream)
{
    float *g = net->grad;
    RUN(product, n * in, grad_x, false, grad_y, out, 1, net->params + w, in, 1, (const float *)NULL,
        n, in, out);
    RUN(product, in * out, g + w, true, grad_y, 1, out, x, in, 1, (const float *)NULL, out, in, n);
    RUN(column_sums, out, g + b, grad_y, n, (int)out);
}

static void norm_back(float *grad_x, const float *grad_y, const float *x, const gpt *net, size_t w,
                      size_t b, const float *mean, const float *rstd, size_t n, cudaStream_t stream)
{
    const int C = net->config.channels;
    RUN(normalize_params, C, net->grad + w, net->grad + b, grad_y, x, mean, rstd, n, C);
    RUN(normalize_back, n, grad_x, grad_y, x, net->params + w, mean, rstd, n, C);
}

cudaError_t gpt_create(gpt **net, const gpt_config *config, const float *h_params)
{
    *net = NULL;
    if (!gpt_config_is_valid(config)) return cudaErrorInvalidValue;
    const size_t n = gpt_params(config);
    gpt *g = (gpt *)calloc(1, sizeof *g);
    g->activations = (gpt_activations *)calloc(1, sizeof *g->activations);
    g->config = *config;
    cudaMalloc((void **)&g->params, 4 * n * sizeof(float));
    cudaMalloc((void **)&g->activations->norm, sizeof(float));
    g->grad = g->params + n;
    g->m = g->grad + n;
    g->v = g->m + n;
    cudaMemset(g->grad, 0, 3 * n * sizeof(float));
    cudaMemcpy(g->params, h_params, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        gpt_free(g);
    else
        *net = g;
    return error;
}

static cudaError_t make_room(gpt *net, int batch, int seq)
{
    gpt_activations *a = net->activations;
    const gpt_config *c = &net->config;
    const size_t n = (size_t)batch * seq, w = n * c->channels, V = c->vocab;
    const size_t counts[] = {n,
                             w,
                             w,
                             2 * n,
                             n * V,
                             n,
                             w,
                             4 * w,
                             3 * w,
                             w,
                             w * LAYER * c->layers,
                             n * (4 + c->heads) * c->layers};
    float **parts[] = {(float **)&a->tokens, &a->x,      &a->last, &a->stats, &a->logits,
                       &a->losses,           &a->branch, &a->wide, &a->qkv,   &a->grad_x,
                       &a->of_layers,        &a->numbers};
    size_t floats = 0;
    for (size_t count : counts) floats += count;
    a->batch = batch;
    a->seq = seq;
    if (floats > a->floats) {
        cudaFree(a->all);
        if (cudaMalloc((void **)&a->all, floats * sizeof(float)) != cudaSuccess) {
            a->all = NULL;
            a->floats = 0;
            return cudaErrorMemoryAllocation;
        }
        a->floats = floats;
    }
    float *left = a->all;
    for (int i = 0; i < 12; left += counts[i++]) *parts[i] = left;
    return cudaSuccess;
}

static void layer_forward(const gpt *net, int i, size_t n, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const gpt_layer at = gpt_layer_at(c, i);
    const float *p = net->params;
    const int C = c->channels;
    float *x = part(net, i - 1, OUT), *middle = part(net, i, MIDDLE), *out = part(net, i, OUT);
    RUN(normalize, n, part(net, i, NORM1), number(net, i, 0), number(net, i, 1), x, p + at.ln1_w,
        p + at.ln1_b, n, C);
    linear(part(net, i, QKV), part(net, i, NORM1), net, at.qkv_w, at.qkv_b, n, C, 3 * C, stream);
    RUN(attend, n * c->heads, part(net, i, MIXED), number(net, i, 4), part(net, i, QKV), n,
        net->activations->seq, c->heads, C / c->heads);
    linear(middle, part(net, i, MIXED), net, at.proj_w, at.proj_b, n, C, C, stream);
    RUN(add, n * C, middle, x, n * C);
    RUN(normalize, n, part(net, i, NORM2), number(net, i, 2), number(net, i, 3), middle,
        p + at.ln2_w, p + at.ln2_b, n, C);
    linear(part(net, i, FC), part(net, i, NORM2), net, at.fc_w, at.fc_b, n, C, 4 * C, stream);
    RUN(gelu, n * 4 * C, part(net, i, ACT), part(net, i, FC), n * 4 * C);
    linear(out, part(net, i, ACT), net, at.fcproj_w, at.fcproj_b, n, 4 * C, C, stream);
    RUN(add, n * C, out, middle, n * C);
}

static void layer_back(const gpt *net, int i, size_t n, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const gpt_activations *a = net->activations;
    const gpt_layer at = gpt_layer_at(c, i);
    const int C = c->channels;
    linear_back(a->wide, a->grad_x, part(net, i, ACT), net, at.fcproj_w, at.fcproj_b, n, 4 * C, C,
                stream);
    RUN(gelu_back, n * 4 * C, a->wide, part(net, i, FC), n * 4 * C);
    linear_back(a->branch, a->wide, part(net, i, NORM2), net, at.fc_w, at.fc_b, n, C, 4 * C,
                stream);
    norm_back(a->grad_x, a->branch, part(net, i, MIDDLE), net, at.ln2_w, at.ln2_b,
              number(net, i, 2), number(net, i, 3), n, stream);
    linear_back(a->branch, a->grad_x, part(net, i, MIXED), net, at.proj_w, at.proj_b, n, C, C,
                stream);
    RUN(attend_back, n * c->heads, a->qkv, a->branch, part(net, i, MIXED), number(net, i, 4),
        part(net, i, QKV), n, a->seq, c->heads, C / c->heads);
    linear_back(a->branch, a->qkv, part(net, i, NORM1), net, at.qkv_w, at.qkv_b, n, C, 3 * C,
                stream);
    norm_back(a->grad_x, a->branch, part(net, i - 1, OUT), net, at.ln1_w, at.ln1_b,
              number(net, i, 0), number(net, i, 1), n, stream);
}

cudaError_t gpt_forward(gpt *net, float *d_loss, float *d_logits, const int *d_tokens,
                        const int *d_targets, int batch, int seq, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    gpt_activations *a = net->activations;
    if (batch < 1 || seq < 1 || seq > c->context) return cudaErrorInvalidValue;
    a->goes_back = 0;
    if (make_room(net, batch, seq) != cudaSuccess) return cudaErrorMemoryAllocation;
    const size_t n = (size_t)batch * seq, C = c->channels, V = c->vocab;
    const float *p = net->params;
    float *logits = d_logits ? d_logits : a->logits;
    cudaMemcpyAsync(a->tokens, d_tokens, n * sizeof(int), cudaMemcpyDeviceToDevice, stream);
    RUN(embed, n * C, a->x, a->tokens, p, p + gpt_wpe(c), n, seq, (int)C);
    for (int i = 0; i < c->layers; i++) layer_forward(net, i, n, stream);
    RUN(normalize, n, a->last, a->stats, a->stats + n, part(net, c->layers - 1, OUT),
        p + gpt_lnf_w(c), p + gpt_lnf_b(c), n, (int)C);
    RUN(product, n * V, logits, false, a->last, C, 1, p, 1, C, (const float *)NULL, n, V, C);
    a->goes_back = d_targets != NULL;
    if (d_targets) RUN(cross_entropy, n, a->losses, a->logits, logits, d_targets, n, (int)V);
    if (d_targets && d_loss) mean_kernel<<<1, 1, 0, stream>>>(d_loss, a->losses, n);
    return cudaGetLastError();
}

cudaError_t gpt_backward(gpt *net, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const gpt_activations *a = net->activations;
    if (!a->goes_back) return cudaErrorInvalidValue;
    const size_t n = (size_t)a->batch * a->seq, C = c->channels, V = c->vocab;
    const float *p = net->params, *none = NULL;
    float *g = net->grad;
    cudaMemsetAsync(g, 0, gpt_params(c) * sizeof(float), stream);
    cudaMemsetAsync(a->grad_x, 0, n * C * sizeof(float), stream);
    RUN(product, n * C, a->branch, false, a->logits, V, 1, p, C, 1, none, n, C, V);
    RUN(product, V * C, g, true, a->logits, 1, V, a->last, C, 1, none, V, C, n);
    norm_back(a->grad_x, a->branch, part(net, c->layers - 1, OUT), net, gpt_lnf_w(c), gpt_lnf_b(c),
              a->stats, a->stats + n, n, stream);
    for (int i = c->layers - 1; i >= 0; i--) layer_back(net, i, n, stream);
    RUN(embed_back, (V + c->context) * C, g, g + gpt_wpe(c), a->grad_x, a->tokens, n, a->seq,
        (int)V, c->context, (int)C);
    return cudaGetLastError();
}

cudaError_t gpt_update(gpt *net, float lr, float beta1, float beta2, float eps, float weight_decay,
                       float max_norm, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const float *norm = net->activations->norm;
    norm_kernel<<<1, 128, 0, stream>>>(net->activations->norm, net->grad, gpt_params(c));
    net->step++;
    for (int i = 0; i < gpt_arrays(c); i++) {
        const gpt_array at = gpt_array_at(c, i);
        const size_t b = at.begin, n = at.rows * at.cols;
        RUN(adam, n, net->params + b, net->m + b, net->v + b, net->grad + b, norm, max_norm, n, lr,
            beta1, beta2, eps, at.matrix ? weight_decay : 0, (float)(1 - pow(beta1, net->step)),
            (float)(1 - pow(beta2, net->step)));
    }
    return cudaGetLastError();
}

cudaError_t gpt_get_grads(gpt *net, float *h_grads)
{
    if (cudaError_t error = cudaDeviceSynchronize()) return error;
    return cudaMemcpy(h_grads, net->grad, gpt_params(&net->config) * sizeof(float),
                      cudaMemcpyDeviceToHost);
}

cudaError_t gpt_get_params(gpt *net, float *h_params)
{
    if (cudaError_t error = cudaDeviceSynchronize()) return error;
    return cudaMemcpy(h_params, net->params, gpt_params(&net->config) * sizeof(float),
                      cudaMemcpyDeviceToHost);
}

cudaError_t gpt_free(gpt *net)
{
    if (net == NULL) return cudaSuccess;
    cudaFree(net->params);
    cudaFree(net->activations->all);
    cudaFree(net->activations->norm);
    free(net->activations);
    free(net);
    return cudaSuccess;
}
