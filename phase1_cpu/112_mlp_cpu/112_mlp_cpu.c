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

/* TODO: helpers: forward of one image; its loss and its gradients, added to net->grad; the step
 * of Adam. Loops along rows that the compiler can vectorise (about 60 lines). */

float mlp_train_batch_cpu(mlp_cpu *net, const float *x, const int *labels, int batch, float lr)
{
    float loss = 0.0f; /* the mean over the batch */
    /* TODO: the gradients of all images; then one step (about 9 lines). */
    NOT_IMPLEMENTED(net, x, labels, batch, lr);
    return loss;
}

void mlp_predict_cpu(const mlp_cpu *net, float *logits, const float *x, int batch)
{
    /* TODO: forward of every image (about 4 lines). */
    NOT_IMPLEMENTED(net, logits, x, batch);
}
