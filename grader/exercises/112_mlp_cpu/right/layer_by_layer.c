// RIGHT: two layers of one kind, their gradients taken apart and Adam's sums kept in double
#include "112_mlp_cpu/mlp_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct layer {
    int in, out;
    float *w, *bias; /* [out x in], [out], in the one array of parameters */
    double *grad_w, *grad_bias;
} layer;

struct mlp_cpu {
    layer layers[2];
    int steps;
    float params[MLP_PARAMS];
    double grad[MLP_PARAMS], mean[MLP_PARAMS], square[MLP_PARAMS];
};

static size_t add_layer(mlp_cpu *net, int number, size_t at, int in, int out)
{
    size_t weights = (size_t)in * out;
    net->layers[number] = (layer){.in = in,
                                  .out = out,
                                  .w = net->params + at,
                                  .bias = net->params + at + weights,
                                  .grad_w = net->grad + at,
                                  .grad_bias = net->grad + at + weights};
    return at + weights + out;
}

mlp_cpu *mlp_create_cpu(const float *params)
{
    mlp_cpu *net = calloc(1, sizeof *net);
    if (!net) return NULL;
    size_t next = add_layer(net, 0, 0, MLP_INPUTS, MLP_HIDDEN);
    add_layer(net, 1, next, MLP_HIDDEN, MLP_CLASSES);
    memcpy(net->params, params, sizeof net->params);
    return net;
}

void mlp_free_cpu(mlp_cpu *net)
{
    free(net);
}

void mlp_get_params_cpu(const mlp_cpu *net, float *params)
{
    memcpy(params, net->params, sizeof net->params);
}

static void forward(const layer *l, float *y, const float *x)
{
    for (int o = 0; o < l->out; o++) {
        double sum = l->bias[o];
        for (int i = 0; i < l->in; i++) sum += l->w[(size_t)o * l->in + i] * x[i];
        y[o] = (float)sum;
    }
}

/* Adds to the gradients; grad_x may be NULL. */
static void backward(layer *l, double *grad_x, const double *grad_y, const float *x)
{
    for (int o = 0; o < l->out; o++) {
        for (int i = 0; i < l->in; i++) {
            size_t at = (size_t)o * l->in + i;
            l->grad_w[at] += grad_y[o] * x[i];
            if (grad_x) grad_x[i] += grad_y[o] * l->w[at];
        }
        l->grad_bias[o] += grad_y[o];
    }
}

static void rectify(float *y, const float *x)
{
    for (int i = 0; i < MLP_HIDDEN; i++) y[i] = fmaxf(x[i], 0.0f);
}

static double loss_of(double *grad, const float *logits, int label)
{
    double sum = 0.0, at_label = logits[label];
    for (int i = 0; i < MLP_CLASSES; i++) sum += exp(logits[i] - at_label);
    for (int i = 0; i < MLP_CLASSES; i++) grad[i] = exp(logits[i] - at_label) / sum;
    grad[label] -= 1.0;
    return log(sum);
}

static double train_on(mlp_cpu *net, const float *x, int label, int batch)
{
    float pre[MLP_HIDDEN], hidden[MLP_HIDDEN], logits[MLP_CLASSES];
    double grad_logits[MLP_CLASSES], grad_hidden[MLP_HIDDEN] = {0.0};
    forward(&net->layers[0], pre, x);
    rectify(hidden, pre);
    forward(&net->layers[1], logits, hidden);
    double loss = loss_of(grad_logits, logits, label);
    for (int i = 0; i < MLP_CLASSES; i++) grad_logits[i] /= batch;
    backward(&net->layers[1], grad_hidden, grad_logits, hidden);
    for (int i = 0; i < MLP_HIDDEN; i++) grad_hidden[i] *= pre[i] > 0.0f;
    backward(&net->layers[0], NULL, grad_hidden, x);
    return loss / batch;
}

static void step(mlp_cpu *net, double lr)
{
    net->steps++;
    double unbias1 = 1.0 - pow(0.9, net->steps), unbias2 = 1.0 - pow(0.999, net->steps);
    for (int i = 0; i < MLP_PARAMS; i++) {
        double g = net->grad[i];
        net->mean[i] += 0.1 * (g - net->mean[i]);
        net->square[i] += 0.001 * (g * g - net->square[i]);
        double change = net->mean[i] / unbias1 / (sqrt(net->square[i] / unbias2) + 1e-8);
        net->params[i] = (float)(net->params[i] - lr * change);
    }
}

float mlp_train_batch_cpu(mlp_cpu *net, const float *x, const int *labels, int batch, float lr)
{
    double loss = 0.0;
    if (batch < 1) return 0.0f;
    memset(net->grad, 0, sizeof net->grad);
    for (int i = 0; i < batch; i++) {
        loss += train_on(net, x + (size_t)i * MLP_INPUTS, labels[i], batch);
    }
    step(net, lr);
    return (float)loss;
}

void mlp_predict_cpu(const mlp_cpu *net, float *logits, const float *x, int batch)
{
    float hidden[MLP_HIDDEN];
    for (int i = 0; i < batch; i++) {
        forward(&net->layers[0], hidden, x + (size_t)i * MLP_INPUTS);
        rectify(hidden, hidden);
        forward(&net->layers[1], logits + (size_t)i * MLP_CLASSES, hidden);
    }
}
