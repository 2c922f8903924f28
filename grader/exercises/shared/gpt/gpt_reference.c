/* gpt_reference.c: a GPT in double, as its definition says, one loop after the other. */
#include "gpt_cases.h"

#include <math.h>
#include <string.h>

#define FP32_ROUNDING 1e-6 /* of a gradient, relative to the largest of its array */

/* Of one layer; n is batch x seq, C is channels. */
struct reference_layer {
    double *ln1, *mean1, *rstd1; /* [n x C], [n], [n] */
    double *qkv;                 /* [n x 3C] */
    double *attention;           /* [n x C] */
    double *middle;              /* [n x C] */
    double *ln2, *mean2, *rstd2;
    double *fc, *gelu; /* [n x 4C] */
    double *x;         /* [n x C] behind the layer */
};

/* ---- layers ---------------------------------------------------------------------------------- */

/* y[n x out] = x[n x in] w[out x in]^T + b[out], or without b */
static void linear(double *y, const double *x, const double *w, const double *b, long n, long in,
                   long out)
{
    for (long i = 0; i < n; i++) {
        for (long o = 0; o < out; o++) {
            double sum = b ? b[o] : 0.0;
            for (long k = 0; k < in; k++) sum += x[i * in + k] * w[o * in + k];
            y[i * out + o] = sum;
        }
    }
}

/* Adds to grad_w and grad_b; sets grad_x. */
static void linear_back(double *grad_x, double *grad_w, double *grad_b, const double *grad_y,
                        const double *x, const double *w, long n, long in, long out)
{
    memset(grad_x, 0, (size_t)(n * in) * sizeof *grad_x);
    for (long i = 0; i < n; i++) {
        for (long o = 0; o < out; o++) {
            const double g = grad_y[i * out + o];
            if (grad_b) grad_b[o] += g;
            for (long k = 0; k < in; k++) {
                grad_x[i * in + k] += g * w[o * in + k];
                grad_w[o * in + k] += g * x[i * in + k];
            }
        }
    }
}

static void layernorm(double *y, double *mean, double *rstd, const double *x, const double *w,
                      const double *b, long n, long C)
{
    for (long i = 0; i < n; i++, x += C, y += C) {
        double sum = 0.0, squares = 0.0;
        for (long c = 0; c < C; c++) sum += x[c];
        mean[i] = sum / C;
        for (long c = 0; c < C; c++) squares += (x[c] - mean[i]) * (x[c] - mean[i]);
        rstd[i] = 1.0 / sqrt(squares / C + (double)GPT_EPS);
        for (long c = 0; c < C; c++) y[c] = (x[c] - mean[i]) * rstd[i] * w[c] + b[c];
    }
}

/* Adds to all three: in grad_x there is already what went past this branch. */
static void layernorm_back(double *grad_x, double *grad_w, double *grad_b, const double *grad_y,
                           const double *x, const double *w, const double *mean, const double *rstd,
                           long n, long C)
{
    for (long i = 0; i < n; i++, x += C, grad_x += C, grad_y += C) {
        double sum = 0.0, dot = 0.0;
        for (long c = 0; c < C; c++) {
            const double hat = (x[c] - mean[i]) * rstd[i], g = grad_y[c] * w[c];
            grad_w[c] += grad_y[c] * hat;
            grad_b[c] += grad_y[c];
            sum += g / C;
            dot += g * hat / C;
        }
        for (long c = 0; c < C; c++) {
            const double hat = (x[c] - mean[i]) * rstd[i];
            grad_x[c] += rstd[i] * (grad_y[c] * w[c] - sum - hat * dot);
        }
    }
}

#define GELU_SCALE 0.79788456080286535588 /* the root of 2 / pi */

static double gelu(double x)
{
    return 0.5 * x * (1.0 + tanh(GELU_SCALE * (x + 0.044715 * x * x * x)));
}

static double gelu_slope(double x)
{
    const double t = tanh(GELU_SCALE * (x + 0.044715 * x * x * x));
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * GELU_SCALE * (1.0 + 3 * 0.044715 * x * x);
}

/* p[0 .. last] = softmax of the scores of query t with these keys. q and k are rows of 3C. */
static void probabilities(double *p, const double *q, const double *k, long t, long last, long C,
                          long dim, double scale)
{
    double largest = -INFINITY, sum = 0.0;
    for (long s = 0; s <= last; s++) {
        p[s] = 0.0;
        for (long d = 0; d < dim; d++) p[s] += q[t * 3 * C + d] * k[s * 3 * C + d];
        p[s] *= scale;
        largest = fmax(largest, p[s]);
    }
    for (long s = 0; s <= last; s++) sum += p[s] = exp(p[s] - largest);
    for (long s = 0; s <= last; s++) p[s] /= sum;
}

/* One head of one sequence; out and rows of qkv begin at the head's channels. */
static void attend(double *out, double *p, const double *qkv, long seq, long C, long dim,
                   gpt_mistake m)
{
    const double scale = m == GPT_NO_SCALE            ? 1.0
                         : m == GPT_SCALE_OF_CHANNELS ? 1.0 / sqrt((double)C)
                                                      : 1.0 / sqrt((double)dim);
    for (long t = 0; t < seq; t++) {
        const long last = m == GPT_LOOKS_AHEAD ? seq - 1 : t;
        probabilities(p, qkv, qkv + C, t, last, C, dim, scale);
        for (long d = 0; d < dim; d++) {
            out[t * C + d] = 0.0;
            for (long s = 0; s <= last; s++) out[t * C + d] += p[s] * qkv[s * 3 * C + 2 * C + d];
        }
    }
}

/* Adds to grad_qkv. p has room for two rows. */
static void attend_back(double *grad_qkv, double *p, const double *grad_out, const double *qkv,
                        long seq, long C, long dim)
{
    double *grad_p = p + seq;
    const double scale = 1.0 / sqrt((double)dim);
    for (long t = 0; t < seq; t++) {
        double mean = 0.0;
        probabilities(p, qkv, qkv + C, t, t, C, dim, scale);
        for (long s = 0; s <= t; s++) {
            grad_p[s] = 0.0;
            for (long d = 0; d < dim; d++) {
                grad_p[s] += grad_out[t * C + d] * qkv[s * 3 * C + 2 * C + d];
                grad_qkv[s * 3 * C + 2 * C + d] += p[s] * grad_out[t * C + d];
            }
            mean += p[s] * grad_p[s];
        }
        for (long s = 0; s <= t; s++) {
            const double g = p[s] * (grad_p[s] - mean) * scale;
            for (long d = 0; d < dim; d++) {
                grad_qkv[t * 3 * C + d] += g * qkv[s * 3 * C + C + d];
                grad_qkv[s * 3 * C + C + d] += g * qkv[t * 3 * C + d];
            }
        }
    }
}

/* ---- the network ----------------------------------------------------------------------------- */

static size_t tokens_of(const reference_gpt *net)
{
    return (size_t)net->batch * (size_t)net->seq;
}

reference_gpt reference_gpt_create(const gpt_config *c, const float *params)
{
    const size_t n = gpt_params(c);
    reference_gpt net = {.config = *c,
                         .params = f64_array(n),
                         .grad = f64_array(n),
                         .m = f64_array(n),
                         .v = f64_array(n),
                         .head_grad = f64_array(gpt_wpe(c)),
                         .slack = f64_array(n),
                         .rounding = FP32_ROUNDING,
                         .beta1 = 0.9,
                         .beta2 = 0.95,
                         .eps = 1e-8};
    for (size_t i = 0; i < n; i++) net.params[i] = params[i];
    return net;
}

/* Room for the batch; what an earlier one had stays until the case ends. */
static void make_room(reference_gpt *net)
{
    const size_t n = tokens_of(net), width = n * (size_t)net->config.channels;
    net->layers = (struct reference_layer *)f64_array((size_t)net->config.layers *
                                                      sizeof *net->layers / sizeof(double));
    for (int i = 0; i < net->config.layers; i++) {
        net->layers[i] = (struct reference_layer){.ln1 = f64_array(width),
                                                  .mean1 = f64_array(n),
                                                  .rstd1 = f64_array(n),
                                                  .qkv = f64_array(3 * width),
                                                  .attention = f64_array(width),
                                                  .middle = f64_array(width),
                                                  .ln2 = f64_array(width),
                                                  .mean2 = f64_array(n),
                                                  .rstd2 = f64_array(n),
                                                  .fc = f64_array(4 * width),
                                                  .gelu = f64_array(4 * width),
                                                  .x = f64_array(width)};
    }
    net->x = f64_array(width);
    net->lnf = f64_array(width);
    net->mean = f64_array(n);
    net->rstd = f64_array(n);
    net->logits = f64_array(n * (size_t)net->config.vocab);
}

/* y = what went past the branch + what came out of it; normalized: what went into it */
static void add_branch(double *y, const double *past, const double *normalized,
                       const double *branch, long count, gpt_mistake m)
{
    for (long i = 0; i < count; i++) {
        y[i] = branch[i];
        if (m != GPT_NO_RESIDUAL) y[i] += m == GPT_RESIDUAL_OF_NORM ? normalized[i] : past[i];
    }
}

static void layer_forward(reference_gpt *net, const double *x, int number)
{
    const gpt_layer at = gpt_layer_at(&net->config, number);
    const double *p = net->params;
    struct reference_layer *l = &net->layers[number];
    const long n = (long)tokens_of(net), C = net->config.channels, seq = net->seq;
    const long dim = C / net->config.heads;
    double *scores = f64_array((size_t)seq), *rows = f64_array((size_t)(n * C));
    layernorm(l->ln1, l->mean1, l->rstd1, x, p + at.ln1_w, p + at.ln1_b, n, C);
    linear(l->qkv, l->ln1, p + at.qkv_w, p + at.qkv_b, n, C, 3 * C);
    for (long t = 0; t < n; t += seq) {
        for (long c = 0; c < C; c += dim) {
            attend(l->attention + t * C + c, scores, l->qkv + t * 3 * C + c, seq, C, dim,
                   net->mistake);
        }
    }
    linear(rows, l->attention, p + at.proj_w, p + at.proj_b, n, C, C);
    add_branch(l->middle, x, l->ln1, rows, n * C, net->mistake);
    const double *second = net->mistake == GPT_NORM_OF_INPUT ? x : l->middle;
    layernorm(l->ln2, l->mean2, l->rstd2, second, p + at.ln2_w, p + at.ln2_b, n, C);
    linear(l->fc, l->ln2, p + at.fc_w, p + at.fc_b, n, C, 4 * C);
    for (long i = 0; i < n * 4 * C; i++) {
        l->gelu[i] = net->mistake == GPT_NO_GELU ? l->fc[i] : gelu(l->fc[i]);
    }
    linear(rows, l->gelu, p + at.fcproj_w, p + at.fcproj_b, n, 4 * C, C);
    add_branch(l->x, l->middle, l->ln2, rows, n * C, net->mistake);
}

static const double *before(const reference_gpt *net, int layer)
{
    return layer == 0 ? net->x : net->layers[layer - 1].x;
}

double reference_gpt_forward(reference_gpt *net, const int *tokens, const int *targets, int batch,
                             int seq)
{
    const gpt_config *c = &net->config;
    const long C = c->channels, V = c->vocab, n = (long)batch * seq;
    const double *p = net->params;
    net->batch = batch;
    net->seq = seq;
    net->tokens = tokens;
    net->targets = targets;
    make_room(net);
    for (long i = 0; i < n * C; i++) {
        net->x[i] = p[tokens[i / C] * C + i % C];
        if (net->mistake != GPT_NO_POSITIONS)
            net->x[i] += p[(long)gpt_wpe(c) + i / C % seq * C + i % C];
    }
    for (int i = 0; i < c->layers; i++) layer_forward(net, before(net, i), i);
    layernorm(net->lnf, net->mean, net->rstd, before(net, c->layers), p + gpt_lnf_w(c),
              p + gpt_lnf_b(c), n, C);
    linear(net->logits, net->mistake == GPT_NO_LAST_NORM ? before(net, c->layers) : net->lnf, p,
           NULL, n, C, V);

    double loss = 0.0;
    for (long i = 0; targets && i < n; i++) {
        const double *logits = net->logits + i * V;
        double largest = -INFINITY, sum = 0.0;
        for (long v = 0; v < V; v++) largest = fmax(largest, logits[v]);
        for (long v = 0; v < V; v++) sum += exp(logits[v] - largest);
        loss += (log(sum) + largest - logits[targets[i]]) / (double)n;
    }
    return loss;
}

/* grad_x, of what is behind the layer, becomes that of x. */
static void layer_backward(reference_gpt *net, double *grad_x, const double *x, int number)
{
    const gpt_layer at = gpt_layer_at(&net->config, number);
    const struct reference_layer *l = &net->layers[number];
    const double *p = net->params;
    double *grad = net->grad;
    const long n = (long)tokens_of(net), C = net->config.channels, seq = net->seq;
    const long dim = C / net->config.heads;
    double *wide = f64_array((size_t)(n * 4 * C)), *rows = f64_array((size_t)(n * C));
    double *grad_qkv = f64_array((size_t)(n * 3 * C)), *scores = f64_array((size_t)(2 * seq));
    linear_back(wide, grad + at.fcproj_w, grad + at.fcproj_b, grad_x, l->gelu, p + at.fcproj_w, n,
                4 * C, C);
    for (long i = 0; i < n * 4 * C; i++) wide[i] *= gelu_slope(l->fc[i]);
    linear_back(rows, grad + at.fc_w, grad + at.fc_b, wide, l->ln2, p + at.fc_w, n, C, 4 * C);
    layernorm_back(grad_x, grad + at.ln2_w, grad + at.ln2_b, rows, l->middle, p + at.ln2_w,
                   l->mean2, l->rstd2, n, C);
    linear_back(rows, grad + at.proj_w, grad + at.proj_b, grad_x, l->attention, p + at.proj_w, n, C,
                C);
    for (long t = 0; t < n; t += seq) {
        for (long c = 0; c < C; c += dim) {
            attend_back(grad_qkv + t * 3 * C + c, scores, rows + t * C + c, l->qkv + t * 3 * C + c,
                        seq, C, dim);
        }
    }
    linear_back(rows, grad + at.qkv_w, grad + at.qkv_b, grad_qkv, l->ln1, p + at.qkv_w, n, C,
                3 * C);
    layernorm_back(grad_x, grad + at.ln1_w, grad + at.ln1_b, rows, x, p + at.ln1_w, l->mean1,
                   l->rstd1, n, C);
}

/* Of the mean loss, where logits are: softmax - onehot, divided by the tokens. */
static double *logits_backward(const reference_gpt *net)
{
    const long n = (long)tokens_of(net), V = net->config.vocab;
    double *grad = f64_array((size_t)(n * V));
    for (long i = 0; i < n; i++) {
        const double *logits = net->logits + i * V;
        double largest = -INFINITY, sum = 0.0;
        for (long v = 0; v < V; v++) largest = fmax(largest, logits[v]);
        for (long v = 0; v < V; v++) sum += exp(logits[v] - largest);
        for (long v = 0; v < V; v++) {
            grad[i * V + v] = (exp(logits[v] - largest) / sum - (v == net->targets[i])) / (double)n;
        }
    }
    return grad;
}

void reference_gpt_backward(reference_gpt *net)
{
    const gpt_config *c = &net->config;
    const long n = (long)tokens_of(net), C = c->channels;
    double *rows = f64_array((size_t)(n * C)), *grad_x = f64_array((size_t)(n * C));
    double *grad = net->grad;
    memset(grad, 0, gpt_params(c) * sizeof *grad);
    linear_back(rows, grad, NULL, logits_backward(net), net->lnf, net->params, n, C, c->vocab);
    memcpy(net->head_grad, grad, gpt_wpe(c) * sizeof *grad);
    layernorm_back(grad_x, grad + gpt_lnf_w(c), grad + gpt_lnf_b(c), rows, before(net, c->layers),
                   net->params + gpt_lnf_w(c), net->mean, net->rstd, n, C);
    for (int i = c->layers - 1; i >= 0; i--) layer_backward(net, grad_x, before(net, i), i);
    for (long i = 0; i < n * C; i++) {
        grad[net->tokens[i / C] * C + i % C] += grad_x[i];
        grad[(long)gpt_wpe(c) + i / C % net->seq * C + i % C] += grad_x[i];
    }
}

/* ---- one step of AdamW ----------------------------------------------------------------------- */

static double clip(reference_gpt *net, double max_norm)
{
    double squares = 0.0;
    const size_t n = gpt_params(&net->config);
    for (size_t i = 0; i < n; i++) squares += net->grad[i] * net->grad[i];
    const double norm = sqrt(squares);
    for (size_t i = 0; max_norm > 0 && norm > max_norm && i < n; i++) {
        net->grad[i] *= max_norm / norm;
    }
    return norm;
}

/* Adam divides a gradient by its own size, so that where it is nearly 0 (that of the keys' biases
 * is 0 but for rounding) its rounding decides what the step is. */
static void update_array(reference_gpt *net, const gpt_array *a, double lr, double decay)
{
    const double beta1 = net->beta1, beta2 = net->beta2;
    const double correct1 = 1.0 - pow(beta1, net->step), correct2 = 1.0 - pow(beta2, net->step);
    double largest = 0.0;
    for (size_t i = a->begin; i < a->begin + a->rows * a->cols; i++) {
        largest = fmax(largest, fabs(net->grad[i]));
    }
    for (size_t i = a->begin; i < a->begin + a->rows * a->cols; i++) {
        const double g = net->grad[i];
        net->m[i] = beta1 * net->m[i] + (1.0 - beta1) * g;
        net->v[i] = beta2 * net->v[i] + (1.0 - beta2) * g * g;
        const double root = sqrt(net->v[i] / correct2) + net->eps;
        net->slack[i] += lr * fmin(2.0, net->rounding * largest / root);
        net->params[i] -= lr * (net->m[i] / correct1 / root + decay * net->params[i]);
    }
}

double reference_gpt_update(reference_gpt *net, double lr, double weight_decay, double max_norm)
{
    const double norm = clip(net, max_norm);
    net->step++;
    for (int i = 0; i < gpt_arrays(&net->config); i++) {
        const gpt_array a = gpt_array_at(&net->config, i);
        update_array(net, &a, lr, a.matrix ? weight_decay : 0.0);
    }
    return norm;
}
