/*
 * 501_mnist.cu: exercise 112 on the GPU, from your own layers and nothing else.
 *
 * The idea: a network is a row of launches. Forward: linear and ReLU (404), linear (303), softmax
 * and loss (305). Backward: linear, ReLU, linear, the other way round. Then one launch of Adam for
 * all parameters, which lie in one array. Everything stays on the device: the images go there once,
 * a batch is gathered there by a shuffled index, and only the loss comes back.
 *
 * What it costs: a step of 64 images is about fifteen launches of a few microseconds each, and
 * waiting for its loss costs some more. The GPU is idle most of the time; a graph (407) would take
 * most of that away.
 */
#include "208_reduce/reduce.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "305_cross_entropy/cross_entropy.h"
#include "314_adam/adam.h"
#include "404_fusion/fusion.h"
#include "501_mnist/mnist.h"
#include "cuda_check.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include "progress.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>

/* Where each part begins in an array of MLP_PARAMS floats. */
enum {
    W1 = 0,                                /* [MLP_HIDDEN x MLP_INPUTS] */
    BIAS1 = W1 + MLP_HIDDEN * MLP_INPUTS,  /* [MLP_HIDDEN] */
    W2 = BIAS1 + MLP_HIDDEN,               /* [MLP_CLASSES x MLP_HIDDEN] */
    BIAS2 = W2 + MLP_CLASSES * MLP_HIDDEN, /* [MLP_CLASSES] */
};

/* All pointers are device memory. */
struct mlp {
    float *params; /* [MLP_PARAMS] */
    float *grad;   /* [MLP_PARAMS] of the mean loss of the batch */
    float *m, *v;  /* [MLP_PARAMS] each, Adam's running means */
    int step;      /* steps taken */
    float *loss;   /* [1] */

    int rows;           /* images that there is room for in these: */
    float *pre;         /* [rows x MLP_HIDDEN] before the ReLU */
    float *hidden;      /* [rows x MLP_HIDDEN] after it */
    float *grad_hidden; /* [rows x MLP_HIDDEN] */
    float *logits;      /* [rows x MLP_CLASSES] */
    float *grad_logits; /* [rows x MLP_CLASSES] */
    float *losses;      /* [rows] */
};

static cudaError_t allocate_floats(float **d_floats, size_t count)
{
    CUDA_CHECK(cudaFree(*d_floats)); /* NULL, or a smaller one; waits for kernels that use it */
    *d_floats = NULL;
    CUDA_CHECK(cudaMalloc((void **)d_floats, count * sizeof(float)));
    return cudaSuccess;
}

static cudaError_t set_up(mlp *net, const float *h_params)
{
    size_t bytes = MLP_PARAMS * sizeof(float);
    CUDA_CHECK(allocate_floats(&net->params, MLP_PARAMS));
    CUDA_CHECK(allocate_floats(&net->grad, MLP_PARAMS));
    CUDA_CHECK(allocate_floats(&net->m, MLP_PARAMS));
    CUDA_CHECK(allocate_floats(&net->v, MLP_PARAMS));
    CUDA_CHECK(allocate_floats(&net->loss, 1));
    CUDA_CHECK(cudaMemset(net->m, 0, bytes));
    CUDA_CHECK(cudaMemset(net->v, 0, bytes));
    CUDA_CHECK(cudaMemcpy(net->params, h_params, bytes, cudaMemcpyHostToDevice));
    /* All of that used the default stream, for which the caller's streams need not wait. */
    CUDA_CHECK(cudaDeviceSynchronize());
    return cudaSuccess;
}

/* Make room for the activations of a batch. It stays, so that only the largest batch allocates. */
static cudaError_t reserve(mlp *net, int batch)
{
    if (batch <= net->rows) return cudaSuccess;
    size_t rows = (size_t)batch;
    net->rows = 0;
    CUDA_CHECK(allocate_floats(&net->pre, rows * MLP_HIDDEN));
    CUDA_CHECK(allocate_floats(&net->hidden, rows * MLP_HIDDEN));
    CUDA_CHECK(allocate_floats(&net->grad_hidden, rows * MLP_HIDDEN));
    CUDA_CHECK(allocate_floats(&net->logits, rows * MLP_CLASSES));
    CUDA_CHECK(allocate_floats(&net->grad_logits, rows * MLP_CLASSES));
    CUDA_CHECK(allocate_floats(&net->losses, rows));
    net->rows = batch;
    return cudaSuccess;
}

/* d_logits[batch x MLP_CLASSES] of the images d_x[batch x MLP_INPUTS]. net->pre and net->hidden
 * stay, for backward. */
static cudaError_t forward(mlp *net, float *d_logits, const float *d_x, int batch,
                           cudaStream_t stream)
{
    /* SOLUTION: the linear layer with the ReLU in it (404) from the images to net->pre and
       net->hidden; then the second linear layer (303) to d_logits. The parameters of both begin at
       net->params + W1, + BIAS1, + W2 and + BIAS2 (about 5 lines). */
    const float *p = net->params;
    CUDA_CHECK(linear_forward_fused(net->hidden, net->pre, d_x, p + W1, p + BIAS1, batch,
                                    MLP_INPUTS, MLP_HIDDEN, stream));
    CUDA_CHECK(linear_forward(d_logits, net->hidden, p + W2, p + BIAS2, batch, MLP_HIDDEN,
                              MLP_CLASSES, stream));
    /* END SOLUTION */
    return cudaSuccess;
}

/* net->grad[MLP_PARAMS], the gradients of the mean loss, from what forward left behind:
 * net->logits, net->hidden and net->pre. net->losses[batch] are those of the images. */
static cudaError_t backward(mlp *net, const float *d_x, const int *d_labels, int batch,
                            cudaStream_t stream)
{
    /* SOLUTION: losses and the gradient of the logits (305, no label is ignored: -1); then back
       through the second layer, the ReLU (301, in place in net->grad_hidden) and the first layer,
       whose input needs no gradient: NULL (about 10 lines). */
    const float *p = net->params;
    float *grad = net->grad;
    size_t activations = (size_t)batch * MLP_HIDDEN;
    CUDA_CHECK(softmax_cross_entropy(net->losses, net->grad_logits, net->logits, d_labels, batch,
                                     MLP_CLASSES, -1, stream));
    CUDA_CHECK(linear_backward(net->grad_hidden, grad + W2, grad + BIAS2, net->grad_logits,
                               net->hidden, p + W2, batch, MLP_HIDDEN, MLP_CLASSES, stream));
    CUDA_CHECK(relu_backward(net->grad_hidden, net->grad_hidden, net->pre, activations, stream));
    CUDA_CHECK(linear_backward(NULL, grad + W1, grad + BIAS1, net->grad_hidden, d_x, p + W1, batch,
                               MLP_INPUTS, MLP_HIDDEN, stream));
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t mlp_create(mlp **net, const float *h_params)
{
    *net = NULL;
    mlp *created = (mlp *)calloc(1, sizeof *created);
    if (created == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = set_up(created, h_params);
    if (error != cudaSuccess) {
        mlp_free(created);
        return error;
    }
    *net = created;
    return cudaGetLastError();
}

cudaError_t mlp_train_batch(mlp *net, float *h_loss, const float *d_x, const int *d_labels,
                            int batch, float lr, cudaStream_t stream)
{
    if (h_loss != NULL) *h_loss = 0.0f;
    if (batch == 0) return cudaSuccess;
    CUDA_CHECK(reserve(net, batch));
    /* SOLUTION: forward into net->logits, backward; count the step and let Adam take it (314).
       Where the caller wants the loss: sum the net->losses[batch] into net->loss (208), copy that
       to h_loss, wait for the stream, and divide by batch (about 12 lines). */
    CUDA_CHECK(forward(net, net->logits, d_x, batch, stream));
    CUDA_CHECK(backward(net, d_x, d_labels, batch, stream));
    net->step += 1;
    CUDA_CHECK(adam_update(net->params, net->m, net->v, net->grad, MLP_PARAMS, lr, 0.9f, 0.999f,
                           1e-8f, 0.0f, net->step, stream));
    if (h_loss != NULL) {
        CUDA_CHECK(reduce_sum(net->loss, net->losses, (size_t)batch, stream));
        CUDA_CHECK(
            cudaMemcpyAsync(h_loss, net->loss, sizeof(float), cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        *h_loss /= (float)batch;
    }
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t mlp_predict(mlp *net, float *d_logits, const float *d_x, int batch, cudaStream_t stream)
{
    if (batch == 0) return cudaSuccess;
    CUDA_CHECK(reserve(net, batch));
    CUDA_CHECK(forward(net, d_logits, d_x, batch, stream));
    return cudaGetLastError();
}

cudaError_t mlp_get_params(mlp *net, float *h_params)
{
    CUDA_CHECK(cudaDeviceSynchronize()); /* no stream is given: wait for all of them */
    CUDA_CHECK(
        cudaMemcpy(h_params, net->params, MLP_PARAMS * sizeof(float), cudaMemcpyDeviceToHost));
    return cudaGetLastError();
}

cudaError_t mlp_free(mlp *net)
{
    if (net == NULL) return cudaSuccess;
    float *d_buffers[] = {net->params, net->grad,        net->m,      net->v,
                          net->loss,   net->pre,         net->hidden, net->grad_hidden,
                          net->logits, net->grad_logits, net->losses};
    for (size_t i = 0; i < sizeof d_buffers / sizeof d_buffers[0]; i++) cudaFree(d_buffers[i]);
    free(net);
    return cudaGetLastError();
}

/* What train_mnist keeps on the device, and on the host h_order and h_logits. */
typedef struct {
    float *images;   /* [count x MLP_INPUTS] those for validation last */
    int *labels;     /* [count] */
    int *order;      /* [training] shuffled before each epoch */
    float *x;        /* [batch x MLP_INPUTS] the batch in hand */
    int *x_labels;   /* [batch] */
    float *logits;   /* [validation x MLP_CLASSES] */
    int *h_order;    /* [training] */
    float *h_logits; /* [validation x MLP_CLASSES] */
    int training, validation;
} train_data;

static cudaError_t load(train_data *data, const float *h_images, const int *h_labels, int batch)
{
    size_t count = (size_t)data->training + (size_t)data->validation;
    size_t image_bytes = count * MLP_INPUTS * sizeof(float), label_bytes = count * sizeof(int);
    size_t logit_bytes = (size_t)data->validation * MLP_CLASSES * sizeof(float);
    data->h_order = (int *)malloc(label_bytes);
    data->h_logits = (float *)malloc(logit_bytes + 1);
    if (data->h_order == NULL || data->h_logits == NULL) return cudaErrorMemoryAllocation;
    for (int i = 0; i < data->training; i++) data->h_order[i] = i;

    CUDA_CHECK(cudaMalloc((void **)&data->images, image_bytes));
    CUDA_CHECK(cudaMalloc((void **)&data->labels, label_bytes));
    CUDA_CHECK(cudaMalloc((void **)&data->order, label_bytes));
    CUDA_CHECK(cudaMalloc((void **)&data->x, (size_t)batch * MLP_INPUTS * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&data->x_labels, (size_t)batch * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&data->logits, logit_bytes));
    CUDA_CHECK(cudaMemcpy(data->images, h_images, image_bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(data->labels, h_labels, label_bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize()); /* as in set_up */
    return cudaSuccess;
}

static void unload(train_data *data)
{
    cudaFree(data->images);
    cudaFree(data->labels);
    cudaFree(data->order);
    cudaFree(data->x);
    cudaFree(data->x_labels);
    cudaFree(data->logits);
    free(data->h_order);
    free(data->h_logits);
}

/* Block r copies image order[r] and its label to row r of the batch: x[gridDim.x x MLP_INPUTS],
 * x_labels[gridDim.x]. images[.. x MLP_INPUTS] and labels[..] are those of all images. */
__global__ static void gather_kernel(float *x, int *x_labels, const float *images,
                                     const int *labels, const int *order)
{
    /* SOLUTION: the threads of the block share the pixels of its image, neighbours next to each
       other; one of them copies the label (about 4 lines). */
    size_t row = blockIdx.x, image = order[row];
    for (int i = threadIdx.x; i < MLP_INPUTS; i += blockDim.x)
        x[row * MLP_INPUTS + i] = images[image * MLP_INPUTS + i];
    if (threadIdx.x == 0) x_labels[row] = labels[image];
    /* END SOLUTION */
}

/* Every training image once, in random order. *loss is the mean over all of them. */
static cudaError_t train_epoch(mlp *net, float *loss, train_data *data, int batch, float lr,
                               random_state *rng, progress *bar, cudaStream_t stream)
{
    /* SOLUTION: shuffle data->h_order[training] and copy it to data->order; then batch by batch:
       rows is batch, or what is left; gather `rows` images, a block of 256 threads each, to data->x
       and data->x_labels; train on them. Each loss is weighted by the images of its batch. After
       each batch: progress_step(bar, images so far, "loss %.4f", mean so far) (about 17 lines). */
    int training = data->training;
    random_shuffle(rng, data->h_order, (size_t)training);
    CUDA_CHECK(cudaMemcpyAsync(data->order, data->h_order, (size_t)training * sizeof(int),
                               cudaMemcpyHostToDevice, stream));
    double sum = 0.0;
    for (int done = 0; done < training;) {
        int rows = training - done < batch ? training - done : batch; /* the last may be short */
        float batch_loss;
        gather_kernel<<<rows, 256, 0, stream>>>(data->x, data->x_labels, data->images, data->labels,
                                                data->order + done);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(mlp_train_batch(net, &batch_loss, data->x, data->x_labels, rows, lr, stream));
        done += rows;
        sum += (double)batch_loss * rows;
        progress_step(bar, done, "loss %.4f", sum / done);
    }
    *loss = (float)(sum / training);
    /* END SOLUTION */
    return cudaSuccess;
}

/* The share of the validation images whose largest logit is that of their label. */
static cudaError_t validate(mlp *net, float *accuracy, train_data *data, const int *h_labels,
                            cudaStream_t stream)
{
    /* SOLUTION: predict data->logits[validation x MLP_CLASSES] of the images behind those for
       training; copy them to data->h_logits, wait for the stream, and count on the host. Without
       images the share is 0. h_labels[validation] are those of these images (about 15 lines). */
    int validation = data->validation, right = 0;
    CUDA_CHECK(mlp_predict(net, data->logits, data->images + (size_t)data->training * MLP_INPUTS,
                           validation, stream));
    CUDA_CHECK(cudaMemcpyAsync(data->h_logits, data->logits,
                               (size_t)validation * MLP_CLASSES * sizeof(float),
                               cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    for (int row = 0; row < validation; row++) {
        const float *logits = data->h_logits + (size_t)row * MLP_CLASSES;
        int best = 0;
        for (int i = 1; i < MLP_CLASSES; i++)
            if (logits[i] > logits[best]) best = i;
        right += best == h_labels[row];
    }
    *accuracy = validation > 0 ? (float)right / (float)validation : 0.0f;
    /* END SOLUTION */
    return cudaSuccess;
}

static cudaError_t train_epochs(mlp *net, float *h_loss, float *h_accuracy, train_data *data,
                                const int *h_labels, int epochs, int batch, float lr,
                                random_state *rng, cudaStream_t stream)
{
    for (int epoch = 0; epoch < epochs; epoch++) {
        char title[32];
        snprintf(title, sizeof title, "epoch %d/%d", epoch + 1, epochs);
        progress bar = progress_begin(title, data->training);
        CUDA_CHECK(train_epoch(net, &h_loss[epoch], data, batch, lr, rng, &bar, stream));
        CUDA_CHECK(validate(net, &h_accuracy[epoch], data, h_labels + data->training, stream));
        progress_end(&bar, "loss %.4f, validation accuracy %.2f %%", h_loss[epoch],
                     100 * h_accuracy[epoch]);
    }
    return cudaSuccess;
}

cudaError_t train_mnist(mlp *net, float *h_loss, float *h_accuracy, const float *h_images,
                        const int *h_labels, int count, int validation, int epochs, int batch,
                        float lr, unsigned long long seed, cudaStream_t stream)
{
    if (batch < 1 || validation < 0 || validation >= count) return cudaErrorInvalidValue;
    train_data data = {};
    data.training = count - validation;
    data.validation = validation;
    random_state rng = random_seed(seed);
    cudaError_t error = load(&data, h_images, h_labels, batch);
    if (error == cudaSuccess)
        error =
            train_epochs(net, h_loss, h_accuracy, &data, h_labels, epochs, batch, lr, &rng, stream);
    unload(&data);
    if (error != cudaSuccess) return error;
    return cudaGetLastError();
}
