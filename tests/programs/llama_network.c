/*
 * llama_network.c: the network of programs/gpt/llama against one in double, written from llama.h:
 * its loss and logits, each of its gradients as the difference of two losses, and an update. The
 * last line counts.
 */
#include "../../programs/gpt/llama/llama.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 2
#define SEQ   5
#define WIDE  64 /* floats of a row, at most */

static int passed, failures;
static double logits[BATCH * SEQ][WIDE]; /* of the last loss_of */

static void judge(const char *what, double off, double most)
{
    const int right = off <= most;
    passed += right;
    failures += !right;
    if (!right) printf("FAILED %s: off by %g\n", what, off);
}

/* ---- in double ------------------------------------------------------------------------------- */

/* y[rows] += w[rows x cols] x[cols] */
static void product(double *y, const double *w, const double *x, int rows, int cols)
{
    for (int i = 0; i < rows; i++, w += cols)
        for (int k = 0; k < cols; k++) y[i] += w[k] * x[k];
}

static void rmsnorm(double *y, const double *x, const double *gamma, int n)
{
    double squares = 0.0;
    for (int i = 0; i < n; i++) squares += x[i] * x[i];
    for (int i = 0; i < n; i++) y[i] = x[i] * gamma[i] / sqrt(squares / n + (double)GPT_EPS);
}

static void turn(double *x, int dim, int t)
{
    for (int i = 0; i < dim / 2; i++) {
        const double angle = t * pow(10000.0, -2.0 * i / dim), a = x[i], b = x[i + dim / 2];
        x[i] = a * cos(angle) - b * sin(angle);
        x[i + dim / 2] = b * cos(angle) + a * sin(angle);
    }
}

/* y[dim] = attention of a head at place t, whose rows of qkv begin at q, k and v. */
static void attend(double *y, double qkv[SEQ][WIDE], int t, int q, int k, int v, int dim)
{
    double weight[SEQ], sum = 0.0;
    for (int u = 0; u <= t; u++) {
        double score = 0.0;
        for (int d = 0; d < dim; d++) score += qkv[t][q + d] * qkv[u][k + d];
        sum += weight[u] = exp(score / sqrt(dim));
    }
    for (int u = 0; u <= t; u++)
        for (int d = 0; d < dim; d++) y[d] += weight[u] / sum * qkv[u][v + d];
}

static void layer(double x[SEQ][WIDE], const gpt_config *c, const double *p, llama_layer at)
{
    const int C = c->channels, dim = C / c->heads, K = C / llama_group(c), H = llama_hidden(c);
    double qkv[SEQ][WIDE] = {0}, h[WIDE];
    for (int t = 0; t < SEQ; t++) {
        rmsnorm(h, x[t], p + at.norm1, C);
        product(qkv[t], p + at.qkv, h, C + 2 * K, C);
        for (int i = 0; i < C + K; i += dim) turn(qkv[t] + i, dim, t);
    }
    for (int t = 0; t < SEQ; t++) {
        double mixed[WIDE] = {0}, gate[WIDE] = {0}, up[WIDE] = {0};
        for (int i = 0; i < c->heads; i++) {
            const int key = C + i / llama_group(c) * dim;
            attend(mixed + i * dim, qkv, t, i * dim, key, key + K, dim);
        }
        product(x[t], p + at.proj, mixed, C, C);
        rmsnorm(h, x[t], p + at.norm2, C);
        product(gate, p + at.gate, h, H, C);
        product(up, p + at.up, h, H, C);
        for (int i = 0; i < H; i++) up[i] *= gate[i] / (1.0 + exp(-gate[i]));
        product(x[t], p + at.down, up, C, H);
    }
}

/* @param tokens [BATCH x (SEQ + 1)] the target of each is the next */
static double loss_of(const gpt_config *c, const double *p, const int *tokens)
{
    const int C = c->channels;
    double sum = 0.0, h[WIDE];
    memset(logits, 0, sizeof logits);
    for (int b = 0; b < BATCH; b++, tokens += SEQ + 1) {
        double x[SEQ][WIDE];
        for (int t = 0; t < SEQ; t++) memcpy(x[t], p + tokens[t] * C, C * sizeof **x);
        for (int i = 0; i < c->layers; i++) layer(x, c, p, llama_layer_at(c, i));
        for (int t = 0; t < SEQ; t++) {
            double *row = logits[b * SEQ + t], all = 0.0;
            rmsnorm(h, x[t], p + llama_params(c) - C, C);
            product(row, p, h, c->vocab, C);
            for (int v = 0; v < c->vocab; v++) all += exp(row[v]);
            sum += log(all) - row[tokens[t + 1]];
        }
    }
    return sum / (BATCH * SEQ);
}

/* ---- what is checked ------------------------------------------------------------------------- */

static int *on_device(const int *tokens, int shift)
{
    int *d_tokens;
    cudaMalloc((void **)&d_tokens, BATCH * SEQ * sizeof *d_tokens);
    for (int b = 0; b < BATCH; b++)
        cudaMemcpy(d_tokens + b * SEQ, tokens + b * (SEQ + 1) + shift, SEQ * sizeof *d_tokens,
                   cudaMemcpyHostToDevice);
    return d_tokens;
}

static void check_passes(gpt *net, double *p, const int *tokens)
{
    const gpt_config *c = &net->config;
    int *d_tokens = on_device(tokens, 0), *d_targets = on_device(tokens, 1);
    float *d_loss, loss, last[WIDE], *grad = malloc(gpt_params(c) * sizeof *grad);
    double worst = 0.0, off = 0.0;
    cudaMalloc((void **)&d_loss, sizeof *d_loss);
    judge("next", llama_next(net, last, tokens, SEQ), 0);
    judge("forward", gpt_forward(net, d_loss, NULL, d_tokens, d_targets, BATCH, SEQ, 0), 0);
    judge("backward", gpt_backward(net, 0), 0);
    judge("a backward pass twice", gpt_backward(net, 0) != cudaErrorInvalidValue, 0);
    gpt_get_grads(net, grad);
    cudaMemcpy(&loss, d_loss, sizeof loss, cudaMemcpyDeviceToHost);
    judge("loss", fabs(loss - loss_of(c, p, tokens)), 1e-5);
    for (int v = 0; v < c->vocab; v++) off = fmax(off, fabs(last[v] - logits[SEQ - 1][v]));
    judge("logits of the last token", off, 1e-5);
    for (size_t i = 0; i < llama_params(c); i++) {
        const double kept = p[i], step = 1e-5;
        p[i] = kept + step;
        const double more = loss_of(c, p, tokens);
        p[i] = kept - step;
        off = fabs(grad[i] - (more - loss_of(c, p, tokens)) / (2 * step));
        if (!(off <= worst)) worst = off;
        p[i] = kept;
    }
    judge("gradients", worst, 1e-5);
    free(grad);
    cudaFree(d_tokens), cudaFree(d_targets), cudaFree(d_loss);
}

/* The first update goes lr against the sign of each gradient, and decays matrices alone. */
static void check_update(gpt *net, const double *p)
{
    const size_t n = gpt_params(&net->config);
    const float lr = 0.01f, decay = 0.5f, norm = 0.001f;
    float *grad = malloc(n * sizeof *grad), *params = malloc(n * sizeof *params);
    double worst = 0.0, squares = 0.0;
    judge("update", gpt_update(net, lr, 0.9f, 0.95f, 0.0f, decay, norm, 0), 0);
    judge("the number of the step", net->step != 1, 0);
    gpt_get_grads(net, grad);
    gpt_get_params(net, params);
    for (size_t i = 0; i < llama_params(&net->config); i++) {
        const double shrinks = i < llama_norms(&net->config) ? decay * p[i] : 0.0;
        const double off = fabs(params[i] - (p[i] - lr * (copysign(1.0, grad[i]) + shrinks)));
        if (grad[i] != 0.0f && !(off <= worst)) worst = off;
        squares += (double)grad[i] * grad[i];
    }
    judge("parameters", worst, 1e-6);
    judge("the norm of the gradients", fabs(sqrt(squares) / norm - 1), 1e-5);
    free(grad), free(params);
}

static void check(gpt_config c)
{
    const size_t n = gpt_params(&c), own = llama_params(&c);
    static const int tokens[BATCH * (SEQ + 1)] = {3, 1, 4, 1, 5, 2, 6, 0, 3, 3, 2, 6};
    float *params = calloc(n, sizeof *params);
    double *p = calloc(n, sizeof *p);
    random_state rng = random_seed(1);
    gpt *net;
    random_fill_normal(&rng, params, own, 0.3f);
    for (size_t i = llama_norms(&c); i < own; i++) params[i] += 1.0f;
    for (size_t i = 0; i < own; i++) p[i] = params[i];
    judge("the number of parameters", own > n || own + 3 * (size_t)c.channels * c.layers <= n, 0);
    judge("create", gpt_create(&net, &c, params), 0);
    check_passes(net, p, tokens);
    check_update(net, p);
    judge("release", llama_release(net), 0);
    free(params), free(p);
}

int main(void)
{
    check((gpt_config){7, 6, 2, 4, 8}); /* two heads share their keys */
    check((gpt_config){7, 6, 1, 3, 12});
    printf("%d passed, %d failed\n", passed, failures);
    return failures != 0;
}
