// RIGHT: batches gathered on the host into pinned memory, one block of scratch, ReLU of its own
#include "208_reduce/reduce.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "305_cross_entropy/cross_entropy.h"
#include "314_adam/adam.h"
#include "404_fusion/fusion.h"
#include "501_mnist/mnist.h"
#include "random.h"

#include <stdlib.h>
#include <vector>

#define W2_AT (MLP_HIDDEN * MLP_INPUTS + MLP_HIDDEN)

/* Return the error of a call, if it has one. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) return error_;                                                  \
    } while (0)

struct mlp {
    float *params, *grad, *m, *v; /* one block */
    float *scratch;               /* 3 x hidden, 2 x logits, losses and their sum */
    int rows, step;
};

cudaError_t mlp_create(mlp **net, const float *h_params)
{
    const size_t stride = MLP_PARAMS + 2; /* so that all four begin at 16 bytes */
    *net = (mlp *)calloc(1, sizeof **net);
    if (!*net) return cudaErrorMemoryAllocation;
    mlp *n = *net;
    TRY(cudaMalloc(&n->params, 4 * stride * sizeof(float)));
    n->grad = n->params + stride;
    n->m = n->grad + stride;
    n->v = n->m + stride;
    TRY(cudaMemset(n->params, 0, 4 * stride * sizeof(float)));
    TRY(cudaMemcpy(n->params, h_params, MLP_PARAMS * sizeof(float), cudaMemcpyHostToDevice));
    return cudaDeviceSynchronize();
}

cudaError_t mlp_free(mlp *net)
{
    if (!net) return cudaSuccess;
    TRY(cudaFree(net->params));
    TRY(cudaFree(net->scratch));
    free(net);
    return cudaSuccess;
}

cudaError_t mlp_get_params(mlp *net, float *h_params)
{
    TRY(cudaDeviceSynchronize());
    return cudaMemcpy(h_params, net->params, MLP_PARAMS * sizeof(float), cudaMemcpyDeviceToHost);
}

static cudaError_t reserve(mlp *net, int rows)
{
    if (rows <= net->rows) return cudaSuccess;
    net->rows = (rows + 15) / 16 * 16;
    size_t count = (size_t)net->rows * (3 * MLP_HIDDEN + 2 * MLP_CLASSES + 1) + 1;
    TRY(cudaFree(net->scratch));
    net->scratch = NULL;
    return cudaMalloc(&net->scratch, count * sizeof(float));
}

cudaError_t mlp_predict(mlp *net, float *d_logits, const float *d_x, int batch, cudaStream_t stream)
{
    const float *p = net->params, *w2 = p + W2_AT;
    TRY(reserve(net, batch));
    float *pre = net->scratch, *hidden = pre + (size_t)net->rows * MLP_HIDDEN;
    TRY(linear_forward(pre, d_x, p, w2 - MLP_HIDDEN, batch, MLP_INPUTS, MLP_HIDDEN, stream));
    TRY(relu_forward(hidden, pre, (size_t)batch * MLP_HIDDEN, stream));
    return linear_forward(d_logits, hidden, w2, w2 + MLP_CLASSES * MLP_HIDDEN, batch, MLP_HIDDEN,
                          MLP_CLASSES, stream);
}

cudaError_t mlp_train_batch(mlp *net, float *h_loss, const float *d_x, const int *d_labels,
                            int batch, float lr, cudaStream_t stream)
{
    TRY(reserve(net, batch));
    size_t rows = (size_t)net->rows;
    float *pre = net->scratch, *hidden = pre + rows * MLP_HIDDEN;
    float *grad_pre = hidden + rows * MLP_HIDDEN, *logits = grad_pre + rows * MLP_HIDDEN;
    float *grad_logits = logits + rows * MLP_CLASSES, *losses = grad_logits + rows * MLP_CLASSES;
    float *grad_w2 = net->grad + W2_AT;
    TRY(mlp_predict(net, logits, d_x, batch, stream));
    TRY(softmax_cross_entropy(losses, grad_logits, logits, d_labels, batch, MLP_CLASSES, -1,
                              stream));
    TRY(linear_backward(grad_pre, grad_w2, grad_w2 + MLP_CLASSES * MLP_HIDDEN, grad_logits, hidden,
                        net->params + W2_AT, batch, MLP_HIDDEN, MLP_CLASSES, stream));
    TRY(relu_backward(grad_pre, grad_pre, pre, (size_t)batch * MLP_HIDDEN, stream));
    TRY(linear_backward(NULL, net->grad, grad_w2 - MLP_HIDDEN, grad_pre, d_x, net->params, batch,
                        MLP_INPUTS, MLP_HIDDEN, stream));
    net->step++;
    TRY(adam_update(net->params, net->m, net->v, net->grad, MLP_PARAMS, lr, 0.9f, 0.999f, 1e-8f, 0,
                    net->step, stream));
    if (!h_loss) return cudaSuccess;
    TRY(reduce_sum(losses + rows, losses, (size_t)batch, stream));
    TRY(cudaMemcpyAsync(h_loss, losses + rows, sizeof(float), cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    *h_loss /= batch;
    return cudaSuccess;
}

/* The batch in hand, on both sides. */
typedef struct {
    float *h_x, *d_x, *d_logits;
    int *h_labels, *d_labels;
} buffers;

static cudaError_t upload(buffers *b, const float *images, const int *labels, const int *order,
                          int rows, cudaStream_t stream)
{
    for (int row = 0; row < rows; row++) {
        const float *image = images + (size_t)order[row] * MLP_INPUTS;
        for (int i = 0; i < MLP_INPUTS; i++) b->h_x[row * MLP_INPUTS + i] = image[i];
        b->h_labels[row] = labels[order[row]];
    }
    TRY(cudaMemcpyAsync(b->d_x, b->h_x, rows * MLP_INPUTS * sizeof(float), cudaMemcpyHostToDevice,
                        stream));
    return cudaMemcpyAsync(b->d_labels, b->h_labels, rows * sizeof(int), cudaMemcpyHostToDevice,
                           stream);
}

static cudaError_t train_epoch(mlp *net, float *loss, buffers *b, const float *images,
                               const int *labels, const int *order, int training, int batch,
                               float lr, cudaStream_t stream)
{
    double sum = 0;
    for (int done = 0; done < training; done += batch) {
        int rows = done + batch < training ? batch : training - done;
        float mean;
        TRY(upload(b, images, labels, order + done, rows, stream));
        TRY(mlp_train_batch(net, &mean, b->d_x, b->d_labels, rows, lr, stream));
        sum += (double)mean * rows;
    }
    *loss = (float)(sum / training);
    return cudaSuccess;
}

static cudaError_t validate(mlp *net, float *accuracy, buffers *b, const float *images,
                            const int *labels, const int *order, int count, int batch,
                            cudaStream_t stream)
{
    int right = 0;
    for (int done = 0; done < count; done += batch) {
        int rows = done + batch < count ? batch : count - done;
        std::vector<float> logits(rows * MLP_CLASSES);
        TRY(upload(b, images, labels, order + done, rows, stream));
        TRY(mlp_predict(net, b->d_logits, b->d_x, rows, stream));
        TRY(cudaMemcpyAsync(logits.data(), b->d_logits, logits.size() * sizeof(float),
                            cudaMemcpyDeviceToHost, stream));
        TRY(cudaStreamSynchronize(stream));
        for (int row = 0; row < rows; row++) {
            int best = 0;
            for (int i = 1; i < MLP_CLASSES; i++)
                if (logits[row * MLP_CLASSES + i] > logits[row * MLP_CLASSES + best]) best = i;
            right += best == b->h_labels[row];
        }
    }
    *accuracy = count > 0 ? (float)right / count : 0.0f;
    return cudaSuccess;
}

cudaError_t train_mnist(mlp *net, float *h_loss, float *h_accuracy, const float *h_images,
                        const int *h_labels, int count, int validation, int epochs, int batch,
                        float lr, unsigned long long seed, cudaStream_t stream)
{
    const int training = count - validation;
    random_state rng = random_seed(seed);
    std::vector<int> order(count);
    for (int i = 0; i < count; i++) order[i] = i;

    buffers b;
    TRY(cudaMallocHost(&b.h_x, (size_t)batch * MLP_INPUTS * sizeof(float)));
    TRY(cudaMallocHost(&b.h_labels, (size_t)batch * sizeof(int)));
    TRY(cudaMalloc(&b.d_x, (size_t)batch * MLP_INPUTS * sizeof(float)));
    TRY(cudaMalloc(&b.d_labels, (size_t)batch * sizeof(int)));
    TRY(cudaMalloc(&b.d_logits, (size_t)batch * MLP_CLASSES * sizeof(float)));
    for (int epoch = 0; epoch < epochs; epoch++) {
        random_shuffle(&rng, order.data(), training);
        TRY(train_epoch(net, &h_loss[epoch], &b, h_images, h_labels, order.data(), training, batch,
                        lr, stream));
        TRY(validate(net, &h_accuracy[epoch], &b, h_images, h_labels, order.data() + training,
                     validation, batch, stream));
    }
    TRY(cudaFreeHost(b.h_x));
    TRY(cudaFreeHost(b.h_labels));
    TRY(cudaFree(b.d_x));
    TRY(cudaFree(b.d_labels));
    return cudaFree(b.d_logits);
}
