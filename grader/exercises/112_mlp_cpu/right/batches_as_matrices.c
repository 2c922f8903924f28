// RIGHT: whole batches as matrices on the heap, one gemm for all products, sums in double
#include "112_mlp_cpu/mlp_cpu.h"

#include <math.h>
#include <stdlib.h>

struct mlp_cpu {
    int updates;
    double power1, power2; /* beta^updates */
    float w[2][MLP_HIDDEN * MLP_INPUTS], bias[2][MLP_HIDDEN];
    float w_mean[2][MLP_HIDDEN * MLP_INPUTS], bias_mean[2][MLP_HIDDEN];
    float w_square[2][MLP_HIDDEN * MLP_INPUTS], bias_square[2][MLP_HIDDEN];
};

static const int inputs[2] = {MLP_INPUTS, MLP_HIDDEN}, outputs[2] = {MLP_HIDDEN, MLP_CLASSES};

/* c[m x n] = sum over k of a[i * ai + k * ak] * b[k * bk + j * bj] */
static void gemm(float *c, const float *a, int ai, int ak, const float *b, int bk, int bj, int m,
                 int n, int k)
{
    double *line = malloc((size_t)n * sizeof *line);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) line[j] = 0.0;
        for (int p = 0; p < k; p++) {
            double factor = a[(size_t)i * ai + (size_t)p * ak];
            for (int j = 0; j < n; j++) line[j] += factor * b[(size_t)p * bk + (size_t)j * bj];
        }
        for (int j = 0; j < n; j++) c[(size_t)i * n + j] = (float)line[j];
    }
    free(line);
}

static const float *take(float *to, const float *from, int count)
{
    for (int i = 0; i < count; i++) to[i] = from[i];
    return from + count;
}

mlp_cpu *mlp_create_cpu(const float *params)
{
    mlp_cpu *net = calloc(1, sizeof *net);
    if (!net) return NULL;
    net->power1 = net->power2 = 1.0;
    for (int layer = 0; layer < 2; layer++) {
        params = take(net->w[layer], params, inputs[layer] * outputs[layer]);
        params = take(net->bias[layer], params, outputs[layer]);
    }
    return net;
}

void mlp_get_params_cpu(const mlp_cpu *net, float *params)
{
    for (int layer = 0; layer < 2; layer++) {
        take(params, net->w[layer], inputs[layer] * outputs[layer]);
        params += inputs[layer] * outputs[layer];
        take(params, net->bias[layer], outputs[layer]);
        params += outputs[layer];
    }
}

void mlp_free_cpu(mlp_cpu *net)
{
    free(net);
}

static void layer_forward(const mlp_cpu *net, int layer, float *y, const float *x, int batch)
{
    int in = inputs[layer], out = outputs[layer];
    gemm(y, x, in, 1, net->w[layer], 1, in, batch, out, in);
    for (int i = 0; i < batch * out; i++) {
        y[i] += net->bias[layer][i % out];
        if (layer == 0 && y[i] < 0.0f) y[i] = 0.0f;
    }
}

static void update(mlp_cpu *net, float *param, float *mean, float *square, const float *grad,
                   int count, float lr)
{
    double rate = lr * sqrt(1.0 - net->power2) / (1.0 - net->power1);
    double epsilon = 1e-8 * sqrt(1.0 - net->power2);
    for (int i = 0; i < count; i++) {
        mean[i] += 0.1f * (grad[i] - mean[i]);
        square[i] += 0.001f * (grad[i] * grad[i] - square[i]);
        param[i] -= (float)(rate * mean[i] / (sqrt(square[i]) + epsilon));
    }
}

static void layer_update(mlp_cpu *net, int layer, const float *grad_y, const float *x, int batch,
                         float lr)
{
    int in = inputs[layer], out = outputs[layer];
    float *grad = calloc((size_t)in * (size_t)out, sizeof *grad), one = 1.0f;
    gemm(grad, grad_y, 1, out, x, in, 1, out, in, batch);
    update(net, net->w[layer], net->w_mean[layer], net->w_square[layer], grad, in * out, lr);
    gemm(grad, &one, 0, 0, grad_y, out, 1, 1, out, batch);
    update(net, net->bias[layer], net->bias_mean[layer], net->bias_square[layer], grad, out, lr);
    free(grad);
}

/* y = softmax(y) - onehot, over the batch; the loss is returned */
static float loss_and_gradient(float *y, const int *labels, int batch)
{
    double loss = 0.0;
    for (int row = 0; row < batch; row++, y += MLP_CLASSES) {
        double sum = 0.0, largest = -INFINITY;
        for (int i = 0; i < MLP_CLASSES; i++) largest = fmax(largest, y[i]);
        for (int i = 0; i < MLP_CLASSES; i++) sum += exp(y[i] - largest);
        loss += log(sum) + largest - y[labels[row]];
        for (int i = 0; i < MLP_CLASSES; i++)
            y[i] = (float)((exp(y[i] - largest) / sum - (i == labels[row])) / batch);
    }
    return (float)(loss / batch);
}

float mlp_train_batch_cpu(mlp_cpu *net, const float *x, const int *labels, int batch, float lr)
{
    if (batch == 0) return 0.0f;
    float *hidden = malloc((size_t)batch * MLP_HIDDEN * sizeof *hidden);
    float *grad_hidden = malloc((size_t)batch * MLP_HIDDEN * sizeof *grad_hidden);
    float *y = malloc((size_t)batch * MLP_CLASSES * sizeof *y);
    layer_forward(net, 0, hidden, x, batch);
    layer_forward(net, 1, y, hidden, batch);
    float loss = loss_and_gradient(y, labels, batch);
    gemm(grad_hidden, y, MLP_CLASSES, 1, net->w[1], MLP_HIDDEN, 1, batch, MLP_HIDDEN, MLP_CLASSES);
    for (int i = 0; i < batch * MLP_HIDDEN; i++) grad_hidden[i] *= hidden[i] > 0.0f;
    net->updates++;
    net->power1 *= 0.9;
    net->power2 *= 0.999;
    layer_update(net, 1, y, hidden, batch, lr);
    layer_update(net, 0, grad_hidden, x, batch, lr);
    free(hidden);
    free(grad_hidden);
    free(y);
    return loss;
}

void mlp_predict_cpu(const mlp_cpu *net, float *logits, const float *x, int batch)
{
    float *hidden = malloc((size_t)batch * MLP_HIDDEN * sizeof *hidden);
    layer_forward(net, 0, hidden, x, batch);
    layer_forward(net, 1, logits, hidden, batch);
    free(hidden);
}
