/*
 * cpu_network.c: the network of 508, and 509's functions for it, on one core of the CPU, from
 * products of 108, the loss of 109 and gradients of 111: the same windows, rates, draws and
 * checkpoints, and the same numbers up to rounding. Means, deviations and probabilities are
 * computed again on the way back, and a token that is written costs a pass over those before it.
 */
#include "cpu.h"
#include "program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t taken; /* bytes of all arrays */

/* n is batch x seq, C is channels, V is vocab. */
typedef struct gpt_activations {
    size_t floats;               /* of kept, of the largest pass so far */
    float *kept;                 /* [n x what a token needs] of the last pass; behind its layers: */
    float *x, *lnf;              /* [n x C] each, x behind the last layer */
    float *grad_x, *rows;        /* [n x C] each */
    float *wide;                 /* [n x 4C] */
    float *logits, *grad_logits; /* [n x V] each */
    float *squares;              /* [2 x seq x seq] probabilities of one head, and their gradient */
    int batch, seq;              /* of the last pass, and the caller's: */
    const int *text;             /* in which windows begin */
    const size_t *begins;        /* at begins[batch] */
} gpt_activations;

/* Where a layer's arrays begin, in times of [n x C]; LAYER is where the next layer begins. */
enum { X, LN1, QKV, MIXED = 5, MIDDLE, LN2, FC, GELU = 12, LAYER = 16 };

static float *array(const gpt *net, int layer, int what)
{
    const gpt_activations *a = net->activations;
    return a->kept + ((size_t)layer * LAYER + what) * a->batch * a->seq * net->config.channels;
}

static cudaError_t allocate(float **x, size_t floats)
{
    *x = calloc(floats, sizeof **x);
    if (*x) taken += floats * sizeof **x;
    if (!*x) fprintf(stderr, "gpt: out of memory: %zu floats are wanted\n", floats);
    return *x ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t release(gpt *net)
{
    if (!net) return cudaSuccess;
    free(net->params);
    free(net->activations->kept);
    free(net);
    return cudaSuccess;
}

static cudaError_t create(gpt **net, const gpt_config *config, const float *h_params)
{
    const size_t n = gpt_params(config);
    gpt *made = calloc(1, sizeof *made + sizeof *made->activations);
    if (!made) return cudaErrorMemoryAllocation;
    made->config = *config;
    made->activations = (gpt_activations *)(made + 1);
    const cudaError_t error = allocate(&made->params, 4 * n);
    if (error) {
        free(made);
        return error;
    }
    made->grad = made->params + n, made->m = made->grad + n, made->v = made->m + n;
    memcpy(made->params, h_params, n * sizeof *h_params);
    *net = made;
    return cudaSuccess;
}

static cudaError_t reserve(gpt *net, int batch, int seq)
{
    gpt_activations *a = net->activations;
    const gpt_config *c = &net->config;
    const size_t n = (size_t)batch * seq, width = n * c->channels;
    const size_t floats =
        n * ((c->layers * LAYER + 8) * c->channels + 2 * c->vocab + 2 * (size_t)seq);
    if (floats > a->floats) {
        free(a->kept);
        taken -= a->floats * sizeof(float), a->floats = 0;
        const cudaError_t error = allocate(&a->kept, floats);
        if (error) return error;
        a->floats = floats;
    }
    a->batch = batch, a->seq = seq;
    a->x = array(net, c->layers, X), a->lnf = a->x + width;
    a->grad_x = a->lnf + width, a->rows = a->grad_x + width, a->wide = a->rows + width;
    a->logits = a->wide + 4 * width, a->grad_logits = a->logits + n * c->vocab;
    a->squares = a->grad_logits + n * c->vocab;
    return cudaSuccess;
}

/* ---- layers of rows -------------------------------------------------------------------------- */

static void add(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] += x[i];
}

static void linear(float *y, const float *x, const float *w, const float *bias, int n, int from,
                   int to)
{
    for (int i = 0; i < n; i++) memcpy(y + (size_t)i * to, bias, (size_t)to * sizeof *y);
    gemm_cpu(0, 1, n, to, from, 1, x, from, w, from, 1, y, to);
}

/* @return 1 / the standard deviation */
static float statistics(float *mean, const float *x, int C)
{
    double sum = 0.0, squares = 0.0;
    for (int c = 0; c < C; c++) sum += x[c];
    for (int c = 0; c < C; c++) squares += (x[c] - sum / C) * (x[c] - sum / C);
    *mean = (float)(sum / C);
    return (float)(1.0 / sqrt(squares / C + GPT_EPS));
}

static void layernorm(float *y, const float *x, const float *w, const float *b, int n, int C)
{
    for (int i = 0; i < n; i++, x += C, y += C) {
        float mean, rstd = statistics(&mean, x, C);
        for (int c = 0; c < C; c++) y[c] = (x[c] - mean) * rstd * w[c] + b[c];
    }
}

/* It adds to grad_x. @param grad [2 x C] of w and of b, which lies behind it */
static void layernorm_back(float *grad_x, float *grad, const float *grad_y, const float *x,
                           const float *w, int n, int C)
{
    memset(grad, 0, 2 * (size_t)C * sizeof *grad);
    for (int i = 0; i < n; i++, x += C, grad_x += C, grad_y += C) {
        float mean, rstd = statistics(&mean, x, C);
        double sum = 0.0, dot = 0.0;
        for (int c = 0; c < C; c++) {
            const float hat = (x[c] - mean) * rstd;
            sum += grad_y[c] * w[c], dot += grad_y[c] * w[c] * hat;
            grad[c] += grad_y[c] * hat, grad[C + c] += grad_y[c];
        }
        for (int c = 0; c < C; c++) {
            const float hat = (x[c] - mean) * rstd;
            grad_x[c] += rstd * (grad_y[c] * w[c] - (float)(sum + hat * dot) / C);
        }
    }
}

#define GELU_SCALE 0.7978845608f /* the root of 2 / pi */
#define GELU_CUBIC 0.044715f

static float gelu_tanh(float x)
{
    return tanhf(GELU_SCALE * (x + GELU_CUBIC * x * x * x));
}

static void gelu_back(float *grad, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float t = gelu_tanh(x[i]), slope = GELU_SCALE * (1 + 3 * GELU_CUBIC * x[i] * x[i]);
        grad[i] *= 0.5f * (1 + t) + 0.5f * x[i] * (1 - t * t) * slope;
    }
}

/* ---- attention ---------------------------------------------------------------------------------
 *
 * A head of a window has q, k and v [seq x dim], which lie in rows of 3C, C apart. */

/* Where head number h of the batch begins, in rows of so many floats. */
static size_t head_at(const gpt *net, int h, int row)
{
    const gpt_config *c = &net->config;
    return (size_t)(h / c->heads) * net->activations->seq * row +
           (size_t)(h % c->heads) * (c->channels / c->heads);
}

/* p [seq x seq] is the softmax of rows of q k^T / root of dim, as far as the diagonal. */
static void probabilities(const gpt *net, float *p, const float *q)
{
    const int C = net->config.channels, dim = C / net->config.heads, n = net->activations->seq;
    gemm_cpu(0, 1, n, n, dim, 1 / sqrtf((float)dim), q, 3 * C, q + C, 3 * C, 0, p, n);
    for (int i = 0; i < n; i++, p += n) {
        float high = p[0], sum = 0.0f;
        for (int j = 1; j <= i; j++) high = fmaxf(high, p[j]);
        for (int j = 0; j < n; j++) sum += p[j] = j <= i ? expf(p[j] - high) : 0.0f;
        for (int j = 0; j <= i; j++) p[j] /= sum;
    }
}

static void attention(const gpt *net, float *out, const float *q)
{
    const int C = net->config.channels, dim = C / net->config.heads, n = net->activations->seq;
    float *p = net->activations->squares;
    probabilities(net, p, q);
    gemm_cpu(0, 0, n, dim, n, 1, p, n, q + 2 * C, 3 * C, 0, out, C);
}

/* The gradient lies as q does. */
static void attention_back(const gpt *net, float *grad, const float *grad_out, const float *q)
{
    const int C = net->config.channels, dim = C / net->config.heads, n = net->activations->seq;
    const float scale = 1 / sqrtf((float)dim);
    float *p = net->activations->squares, *grad_p = p + (size_t)n * n;
    probabilities(net, p, q);
    gemm_cpu(1, 0, n, dim, n, 1, p, n, grad_out, C, 0, grad + 2 * C, 3 * C);
    gemm_cpu(0, 1, n, n, dim, 1, grad_out, C, q + 2 * C, 3 * C, 0, grad_p, n);
    for (int i = 0; i < n; i++) { /* the gradient of probabilities becomes that of scores */
        const float *row = p + (size_t)i * n;
        float *grad_row = grad_p + (size_t)i * n, dot = 0.0f;
        for (int j = 0; j <= i; j++) dot += row[j] * grad_row[j];
        for (int j = 0; j < n; j++) grad_row[j] = row[j] * (grad_row[j] - dot);
    }
    gemm_cpu(0, 0, n, dim, n, scale, grad_p, n, q + C, 3 * C, 0, grad, 3 * C);
    gemm_cpu(1, 0, n, dim, n, scale, grad_p, n, q, 3 * C, 0, grad + C, 3 * C);
}

/* ---- the network ----------------------------------------------------------------------------- */

static void layer_forward(const gpt *net, int i, int n)
{
    const gpt_layer at = gpt_layer_at(&net->config, i);
    const float *p = net->params, *x = array(net, i, X);
    float *ln1 = array(net, i, LN1), *qkv = array(net, i, QKV), *mixed = array(net, i, MIXED);
    float *middle = array(net, i, MIDDLE), *ln2 = array(net, i, LN2), *fc = array(net, i, FC);
    float *gelu = array(net, i, GELU), *y = array(net, i + 1, X);
    const int C = net->config.channels, heads = net->activations->batch * net->config.heads;
    const size_t width = (size_t)n * C;
    layernorm(ln1, x, p + at.ln1_w, p + at.ln1_b, n, C);
    linear(qkv, ln1, p + at.qkv_w, p + at.qkv_b, n, C, 3 * C);
    for (int h = 0; h < heads; h++)
        attention(net, mixed + head_at(net, h, C), qkv + head_at(net, h, 3 * C));
    linear(middle, mixed, p + at.proj_w, p + at.proj_b, n, C, C);
    add(middle, x, width);
    layernorm(ln2, middle, p + at.ln2_w, p + at.ln2_b, n, C);
    linear(fc, ln2, p + at.fc_w, p + at.fc_b, n, C, 4 * C);
    for (size_t k = 0; k < 4 * width; k++) gelu[k] = 0.5f * fc[k] * (1 + gelu_tanh(fc[k]));
    linear(y, gelu, p + at.fcproj_w, p + at.fcproj_b, n, 4 * C, C);
    add(y, middle, width);
}

/* The gradient of what the layer gives becomes that of what it reads, in its place. */
static void layer_backward(const gpt *net, int i, int n)
{
    const gpt_layer at = gpt_layer_at(&net->config, i);
    const gpt_activations *a = net->activations;
    const int C = net->config.channels, heads = a->batch * net->config.heads;
    const float *p = net->params, *qkv = array(net, i, QKV);
    float *g = net->grad, *grad_x = a->grad_x, *rows = a->rows, *wide = a->wide;
    linear_backward_cpu(wide, g + at.fcproj_w, g + at.fcproj_b, grad_x, array(net, i, GELU),
                        p + at.fcproj_w, n, 4 * C, C);
    gelu_back(wide, array(net, i, FC), (size_t)n * 4 * C);
    linear_backward_cpu(rows, g + at.fc_w, g + at.fc_b, wide, array(net, i, LN2), p + at.fc_w, n, C,
                        4 * C);
    layernorm_back(grad_x, g + at.ln2_w, rows, array(net, i, MIDDLE), p + at.ln2_w, n, C);
    linear_backward_cpu(rows, g + at.proj_w, g + at.proj_b, grad_x, array(net, i, MIXED),
                        p + at.proj_w, n, C, C);
    for (int h = 0; h < heads; h++)
        attention_back(net, wide + head_at(net, h, 3 * C), rows + head_at(net, h, C),
                       qkv + head_at(net, h, 3 * C));
    linear_backward_cpu(rows, g + at.qkv_w, g + at.qkv_b, wide, array(net, i, LN1), p + at.qkv_w, n,
                        C, 3 * C);
    layernorm_back(grad_x, g + at.ln1_w, rows, array(net, i, X), p + at.ln1_w, n, C);
}

/* It leaves logits of the windows of text that begin at begins[batch]; both stay for backward. */
static cudaError_t forward(gpt *net, const int *text, const size_t *begins, int batch, int seq)
{
    const gpt_config *c = &net->config;
    gpt_activations *a = net->activations;
    const int C = c->channels, n = batch * seq;
    const float *p = net->params;
    const cudaError_t error = reserve(net, batch, seq);
    if (error) return error;
    a->text = text, a->begins = begins;
    float *x = array(net, 0, X);
    for (int i = 0; i < n; i++, x += C) {
        const int token = text[begins[i / seq] + (size_t)(i % seq)];
        memcpy(x, p + (size_t)token * C, (size_t)C * sizeof *x);
        add(x, p + gpt_wpe(c) + (size_t)(i % seq) * C, (size_t)C);
    }
    for (int i = 0; i < c->layers; i++) layer_forward(net, i, n);
    layernorm(a->lnf, a->x, p + gpt_lnf_w(c), p + gpt_lnf_b(c), n, C);
    gemm_cpu(0, 1, n, c->vocab, C, 1, a->lnf, C, p, C, 0, a->logits, c->vocab);
    return cudaSuccess;
}

/* @return the mean loss; it leaves the gradient of each window's own mean, by its logits */
static float loss(const gpt *net)
{
    const gpt_activations *a = net->activations;
    const int V = net->config.vocab;
    double sum = 0.0;
    for (int b = 0; b < a->batch; b++) {
        const size_t row = (size_t)b * a->seq * V;
        sum += softmax_cross_entropy_cpu(a->grad_logits + row, a->logits + row,
                                         a->text + a->begins[b] + 1, a->seq, V);
    }
    return (float)(sum / a->batch);
}

/* loss comes first. */
static void backward(const gpt *net)
{
    const gpt_config *c = &net->config;
    const gpt_activations *a = net->activations;
    const int C = c->channels, V = c->vocab, n = a->batch * a->seq;
    const float *p = net->params, share = 1.0f / a->batch;
    float *g = net->grad, *grad_wpe = g + gpt_wpe(c), *grad_x = a->grad_x;
    gemm_cpu(0, 0, n, C, V, share, a->grad_logits, V, p, C, 0, a->rows, C);
    gemm_cpu(1, 0, V, C, n, share, a->grad_logits, V, a->lnf, C, 0, g, C);
    memset(grad_x, 0, (size_t)n * C * sizeof *grad_x);
    layernorm_back(grad_x, g + gpt_lnf_w(c), a->rows, a->x, p + gpt_lnf_w(c), n, C);
    for (int i = c->layers - 1; i >= 0; i--) layer_backward(net, i, n);
    memset(grad_wpe, 0, (size_t)c->context * C * sizeof *g);
    for (int i = 0; i < n; i++, grad_x += C) {
        const size_t t = (size_t)(i % a->seq);
        add(g + (size_t)a->text[a->begins[i / a->seq] + t] * C, grad_x, (size_t)C);
        add(grad_wpe + t * C, grad_x, (size_t)C);
    }
}

/* AdamW has beta 0.9 and 0.95 and epsilon 1e-8. */
static void update(gpt *net, float lr, float weight_decay, float max_norm)
{
    const gpt_config *c = &net->config;
    double squares = 0.0;
    for (size_t i = 0; i < gpt_params(c); i++) squares += (double)net->grad[i] * net->grad[i];
    const float norm = (float)sqrt(squares);
    const float factor = max_norm > 0.0f && norm > max_norm ? max_norm / norm : 1.0f;
    const double all_m = 1 - pow(0.9, ++net->step), all_v = 1 - pow(0.95, net->step);
    for (int number = 0; number < gpt_arrays(c); number++) {
        const gpt_array a = gpt_array_at(c, number);
        for (size_t i = a.begin; i < a.begin + a.rows * a.cols; i++) {
            const float g = factor * net->grad[i];
            net->m[i] = 0.9f * net->m[i] + 0.1f * g;
            net->v[i] = 0.95f * net->v[i] + 0.05f * g * g;
            const double step = net->m[i] / all_m / (sqrt(net->v[i] / all_v) + 1e-8);
            net->params[i] -= lr * ((float)step + (a.matrix ? weight_decay : 0) * net->params[i]);
        }
    }
}

/* ---- what 509 does --------------------------------------------------------------------------- */

static cudaError_t step(gpt *net, float *h_loss, const int *text, const size_t *begins,
                        const gpt_training *t)
{
    const cudaError_t error = forward(net, text, begins, t->batch, t->seq);
    if (error) return error;
    *h_loss = loss(net);
    backward(net);
    update(net, gpt_learning_rate(t, net->step), t->weight_decay, t->max_norm);
    return cudaSuccess;
}

/* It takes one window at a time. */
static cudaError_t validate(gpt *net, float *h_loss, const int *text, size_t count, int batch,
                            int seq, cudaStream_t stream)
{
    const size_t tokens = count / 10;
    double sum = 0.0;
    (void)batch, (void)stream;
    for (size_t begin = count - tokens; begin + (size_t)seq < count; begin += (size_t)seq) {
        const cudaError_t error = forward(net, text, &begin, 1, seq);
        if (error) return error;
        sum += loss(net);
    }
    *h_loss = (float)(sum / (double)((tokens - 1) / (size_t)seq));
    return cudaSuccess;
}

static cudaError_t next(gpt *net, float *h_logits, const int *text, int seen)
{
    const size_t begin = 0, V = net->config.vocab;
    const cudaError_t error = forward(net, text, &begin, 1, seen);
    if (!error) memcpy(h_logits, net->activations->logits + (seen - 1) * V, V * sizeof *h_logits);
    return error;
}

/* ---- checkpoints: a header, params, m, v ----------------------------------------------------- */

#define BEHIND offsetof(gpt_checkpoint, config) /* where begins what the checksum covers */

static cudaError_t save(void *h_file, gpt *net)
{
    const size_t floats = gpt_params(&net->config) * sizeof(float);
    char *file = h_file, *arrays = file + sizeof(gpt_checkpoint);
    gpt_checkpoint header = {.version = GPT_VERSION, .config = net->config, .step = net->step};
    memcpy(header.magic, GPT_MAGIC, sizeof header.magic);
    memcpy(file, &header, sizeof header);
    memcpy(arrays, net->params, floats);
    memcpy(arrays + floats, net->m, 2 * floats); /* v lies behind m */
    header.checksum = weights_checksum(file + BEHIND, gpt_checkpoint_bytes(&net->config) - BEHIND);
    memcpy(file, &header, sizeof header);
    return cudaSuccess;
}

/* files.c has looked at the rest of the header. */
static cudaError_t load(gpt *net, weights_status *h_status, const void *h_file, size_t bytes)
{
    const size_t floats = gpt_params(&net->config) * sizeof(float);
    const char *file = h_file, *arrays = file + sizeof(gpt_checkpoint);
    gpt_checkpoint header;
    memcpy(&header, file, sizeof header);
    const bool whole = header.checksum == weights_checksum(file + BEHIND, bytes - BEHIND);
    *h_status = header.version != GPT_VERSION ? WEIGHTS_FOREIGN
                : whole                       ? WEIGHTS_OK
                                              : WEIGHTS_CORRUPT;
    if (*h_status != WEIGHTS_OK) return cudaErrorInvalidValue;
    memcpy(net->params, arrays, floats);
    memcpy(net->m, arrays + floats, 2 * floats);
    net->step = header.step;
    return cudaSuccess;
}

static size_t bytes(void)
{
    return taken;
}

const gpt_functions *functions_on_cpu(void)
{
    static const gpt_functions functions = {.create = create,
                                            .step = step,
                                            .validate = validate,
                                            .next = next,
                                            .save = save,
                                            .load = load,
                                            .release = release,
                                            .bytes = bytes};
    return &functions;
}
