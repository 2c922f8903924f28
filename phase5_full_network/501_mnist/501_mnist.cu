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

/* TODO: helpers: set_up, reserve (room for a batch), forward, backward (about 50 lines). */

cudaError_t mlp_create(mlp **net, const float *h_params)
{
    *net = NULL;
    /* TODO: a zeroed struct, set up; nothing is left behind on an error (about 8 lines). */
    NOT_IMPLEMENTED(net, h_params);
    return cudaGetLastError();
}

cudaError_t mlp_train_batch(mlp *net, float *h_loss, const float *d_x, const int *d_labels,
                            int batch, float lr, cudaStream_t stream)
{
    /* TODO: forward, backward, Adam; the mean of the losses (about 12 lines). */
    NOT_IMPLEMENTED(net, h_loss, d_x, d_labels, batch, lr, stream);
    return cudaGetLastError();
}

cudaError_t mlp_predict(mlp *net, float *d_logits, const float *d_x, int batch, cudaStream_t stream)
{
    /* TODO: forward, straight into d_logits (about 3 lines). */
    NOT_IMPLEMENTED(net, d_logits, d_x, batch, stream);
    return cudaGetLastError();
}

cudaError_t mlp_get_params(mlp *net, float *h_params)
{
    /* TODO: wait for every stream, since none is given; copy (about 3 lines). */
    NOT_IMPLEMENTED(net, h_params);
    return cudaGetLastError();
}

cudaError_t mlp_free(mlp *net)
{
    /* TODO: every buffer, then the struct (about 7 lines). */
    NOT_IMPLEMENTED(net);
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

/* TODO: helpers: load and unload train_data; gather_kernel; an epoch; the accuracy on the
 * validation images (about 85 lines). */

cudaError_t train_mnist(mlp *net, float *h_loss, float *h_accuracy, const float *h_images,
                        const int *h_labels, int count, int validation, int epochs, int batch,
                        float lr, unsigned long long seed, cudaStream_t stream)
{
    /* TODO: images to the device, once; the epochs; free, also on an error (about 9 lines). */
    NOT_IMPLEMENTED(net, h_loss, h_accuracy, h_images, h_labels, count, validation, epochs, batch,
                    lr, seed, stream);
    return cudaGetLastError();
}
