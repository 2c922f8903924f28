/*
 * 112_mlp_cpu.c: a network of two layers that learns to read digits, all of it, on the CPU.
 *
 * The idea: the loss is a function of 101,770 numbers, and its gradient says how to change each of
 * them. Forward, for one image: pre = w1 x + bias1, hidden = relu(pre), logits = w2 hidden + bias2,
 * softmax, loss. Backward is the chain rule, the same steps in the opposite order. The gradients of
 * the images of a batch add up; then Adam takes one step, and not before: every gradient belongs to
 * the same parameters.
 *
 * What it costs: 4 x 784 x 128 operations forward and backward for the first layer of one image, 98
 * % of all. Taking images one by one reads w1 again and again, from the cache as long as it fits.
 * 501 does whole batches on the GPU, and has to give the same numbers.
 */
#include "112_mlp_cpu/mlp_cpu.h"
#include "not_implemented.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where each part begins in an array of MLP_PARAMS floats. */
enum {
    W1 = 0,                                /* [MLP_HIDDEN x MLP_INPUTS] */
    BIAS1 = W1 + MLP_HIDDEN * MLP_INPUTS,  /* [MLP_HIDDEN] */
    W2 = BIAS1 + MLP_HIDDEN,               /* [MLP_CLASSES x MLP_HIDDEN] */
    BIAS2 = W2 + MLP_CLASSES * MLP_HIDDEN, /* [MLP_CLASSES] */
};

struct mlp_cpu {
    float params[MLP_PARAMS];
    float grad[MLP_PARAMS]; /* of the mean loss of the batch */
    float m[MLP_PARAMS];    /* Adam: running mean of the gradient */
    float v[MLP_PARAMS];    /* Adam: running mean of its square */
    int step;               /* steps taken */
};

mlp_cpu *mlp_create_cpu(const float *params)
{
    mlp_cpu *net = calloc(1, sizeof *net);
    if (net != NULL) memcpy(net->params, params, sizeof net->params);
    return net;
}

void mlp_get_params_cpu(const mlp_cpu *net, float *params)
{
    memcpy(params, net->params, sizeof net->params);
}

void mlp_free_cpu(mlp_cpu *net)
{
    free(net);
}

/* SOLUTION: helpers: forward of one image; its loss and its gradients, added to net->grad; the step
 * of Adam. Loops along rows that the compiler can vectorise (about 60 lines). */

/* Eight sums side by side: one sum alone would have to wait for each addition. n is 8 i. */
static float dot(const float *a, const float *b, int n)
{
    float sums[8] = {0};
    for (int i = 0; i < n; i += 8)
        for (int lane = 0; lane < 8; lane++) sums[lane] += a[i + lane] * b[i + lane];
    float sum = 0.0f;
    for (int lane = 0; lane < 8; lane++) sum += sums[lane];
    return sum;
}

/* y += factor * x */
static void add_scaled(float *y, float factor, const float *x, int n)
{
    for (int i = 0; i < n; i++) y[i] += factor * x[i];
}

/* hidden[MLP_HIDDEN], after the ReLU, and logits[MLP_CLASSES] of one image x[MLP_INPUTS] */
static void forward(const mlp_cpu *net, float *hidden, float *logits, const float *x)
{
    const float *p = net->params;
    for (int i = 0; i < MLP_HIDDEN; i++) {
        float pre = dot(p + W1 + i * MLP_INPUTS, x, MLP_INPUTS) + p[BIAS1 + i];
        hidden[i] = pre < 0.0f ? 0.0f : pre;
    }
    for (int i = 0; i < MLP_CLASSES; i++)
        logits[i] = dot(p + W2 + i * MLP_HIDDEN, hidden, MLP_HIDDEN) + p[BIAS2 + i];
}

/* grad_logits = scale * (softmax(logits) - onehot(label)). Returns the loss, not scaled. */
static float softmax_loss(float *grad_logits, const float *logits, int label, float scale)
{
    float largest = logits[0], sum = 0.0f;
    for (int i = 1; i < MLP_CLASSES; i++) largest = fmaxf(largest, logits[i]);
    for (int i = 0; i < MLP_CLASSES; i++) sum += grad_logits[i] = expf(logits[i] - largest);
    for (int i = 0; i < MLP_CLASSES; i++)
        grad_logits[i] = scale * (grad_logits[i] / sum - (i == label ? 1.0f : 0.0f));
    return logf(sum) - (logits[label] - largest);
}

/* Add the gradients of one image to net->grad. */
static void backward(mlp_cpu *net, const float *grad_logits, const float *hidden, const float *x)
{
    const float *w2 = net->params + W2;
    float grad_hidden[MLP_HIDDEN] = {0};
    for (int i = 0; i < MLP_CLASSES; i++) {
        add_scaled(grad_hidden, grad_logits[i], w2 + i * MLP_HIDDEN, MLP_HIDDEN);
        add_scaled(net->grad + W2 + i * MLP_HIDDEN, grad_logits[i], hidden, MLP_HIDDEN);
        net->grad[BIAS2 + i] += grad_logits[i];
    }
    for (int i = 0; i < MLP_HIDDEN; i++) {
        if (hidden[i] == 0.0f) continue; /* the ReLU was 0: no gradient gets through it */
        add_scaled(net->grad + W1 + i * MLP_INPUTS, grad_hidden[i], x, MLP_INPUTS);
        net->grad[BIAS1 + i] += grad_hidden[i];
    }
}

static void adam(mlp_cpu *net, float lr)
{
    const float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
    net->step += 1;
    /* m and v began at 0; these make up for it. In double: 1 - beta2 of step 1 is small. */
    float correct1 = (float)(1.0 - pow(beta1, net->step));
    float correct2 = (float)(1.0 - pow(beta2, net->step));
    for (int i = 0; i < MLP_PARAMS; i++) {
        float grad = net->grad[i];
        net->m[i] = beta1 * net->m[i] + (1.0f - beta1) * grad;
        net->v[i] = beta2 * net->v[i] + (1.0f - beta2) * grad * grad;
        net->params[i] -= lr * (net->m[i] / correct1) / (sqrtf(net->v[i] / correct2) + epsilon);
    }
}
/* END SOLUTION */

float mlp_train_batch_cpu(mlp_cpu *net, const float *x, const int *labels, int batch, float lr)
{
    float loss = 0.0f; /* the mean over the batch */
    /* SOLUTION: the gradients of all images; then one step (about 9 lines). */
    if (batch == 0) return loss;
    memset(net->grad, 0, sizeof net->grad);
    for (int row = 0; row < batch; row++) {
        const float *image = x + (size_t)row * MLP_INPUTS;
        float hidden[MLP_HIDDEN], logits[MLP_CLASSES], grad_logits[MLP_CLASSES];
        forward(net, hidden, logits, image);
        loss += softmax_loss(grad_logits, logits, labels[row], 1.0f / (float)batch) / (float)batch;
        backward(net, grad_logits, hidden, image);
    }
    adam(net, lr);
    /* END SOLUTION */
    return loss;
}

void mlp_predict_cpu(const mlp_cpu *net, float *logits, const float *x, int batch)
{
    /* SOLUTION: forward of every image (about 4 lines). */
    for (int row = 0; row < batch; row++) {
        float hidden[MLP_HIDDEN];
        forward(net, hidden, logits + (size_t)row * MLP_CLASSES, x + (size_t)row * MLP_INPUTS);
    }
    /* END SOLUTION */
}
