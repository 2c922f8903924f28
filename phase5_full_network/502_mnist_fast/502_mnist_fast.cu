/*
 * 502_mnist_fast.cu: the training of 501, an epoch a kernel.
 *
 * The idea: a step of 128 images is 78 million operations, a microsecond or two for the device. In
 * 501 it takes many times that, because fifteen kernels begin and end in it. So here a kernel stays
 * for a whole epoch. Each block *owns* hidden units: their rows of w1, which lie in its shared
 * memory all the time, their columns of w2, their biases, and Adam's means of all that. What a unit
 * needs to learn is in its block already, but for one thing: the loss depends on all units. So a
 * step is
 *
 *     own units         hidden = relu(x w1^T + bias1)          of every image of the batch
 *     -- all blocks wait for each other --
 *     some images       logits, loss, the logits' gradient     of every unit
 *     -- all blocks wait for each other --
 *     own units         all gradients, and Adam
 *
 * Between the blocks go 128 numbers of an image one way and 10 the other. No gradient of a weight
 * ever leaves its block, and of the weights only w2 is read by others.
 *
 * Every block needs all images of a batch, twice. They are kept as bytes, a quarter of the floats,
 * and copied to shared memory once, while the step before is at work, by those of its warps that
 * have nothing to do when the loss is computed. What finds no room there is read where it lies.
 *
 * All sums have a fixed order, so the same call gives the same bits.
 *
 * The cost removed: launches, the host, gradients that go to memory and back. The cost left: two
 * barriers of the whole grid a step, and a device that has far more multipliers than so small a
 * network can use.
 */
#include "502_mnist_fast/mnist_fast.h"
#include "cuda_check.h"
#include "not_implemented.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <math.h>
#include <stdlib.h>

/* Where each part begins in an array of MLP_PARAMS floats. */
enum {
    W1 = 0,                                /* [MLP_HIDDEN x MLP_INPUTS] */
    BIAS1 = W1 + MLP_HIDDEN * MLP_INPUTS,  /* [MLP_HIDDEN] */
    W2 = BIAS1 + MLP_HIDDEN,               /* [MLP_CLASSES x MLP_HIDDEN] */
    BIAS2 = W2 + MLP_CLASSES * MLP_HIDDEN, /* [MLP_CLASSES] */
};

#define BETA1   0.9
#define BETA2   0.999
#define EPSILON 1e-8f

struct mlp_fast {
    int count; /* images */
    int step;  /* steps taken */
    /* TODO: how the work is divided; what lies on the device: parameters, Adam's means, images,
       and what blocks tell each other (about 9 lines). */
};

/* TODO: the sizes of the kernel; what it is given; what a block keeps in shared memory; a step
   (about 40 lines). */

/* TODO: helpers: the sum over a warp, a pixel of a word, where an image lies, Adam (about 45
   lines). */

/* TODO: stage: copy the images from place `first` on to shared memory, without waiting (about
   12 lines). */

/* TODO: forward: one hidden unit of all images; its weights in registers, a warp an image
   (about 25 lines). */

/* TODO: loss: one image by one warp: logits, softmax, the gradient of the mean loss (about 36
   lines). */

/* TODO: backward: of one unit its grad_pre, then every gradient that it has a part in, and the
   step of Adam (about 65 lines). */

/* TODO: epoch_kernel: the weights to shared memory, then all steps (about 35 lines). */

/* TODO: helpers: a block a multiprocessor; device memory and what goes there (about 35 lines).
 */

cudaError_t mlp_fast_create(mlp_fast **net, const float *h_params, const unsigned char *h_images,
                            const int *h_labels, int count)
{
    *net = NULL;
    /* TODO: a zeroed struct, set up; nothing is left behind on an error (about 9 lines). */
    NOT_IMPLEMENTED(net, h_params, h_images, h_labels, count);
    return cudaGetLastError();
}

/* TODO: keep_images: as many of a batch as find room in shared memory, twice (about 14 lines).
 */

cudaError_t mlp_fast_train_epoch(mlp_fast *net, float *d_losses, const int *d_order, int n,
                                 int batch, float first_lr, float last_lr, cudaStream_t stream)
{
    /* TODO: refuse a wrong batch; fill in an epoch; one cooperative launch (about 12 lines). */
    NOT_IMPLEMENTED(net, d_losses, d_order, n, batch, first_lr, last_lr, stream);
    return cudaGetLastError();
}

cudaError_t mlp_fast_get_params(mlp_fast *net, float *h_params)
{
    /* TODO: wait for every stream, since none is given; copy (about 3 lines). */
    NOT_IMPLEMENTED(net, h_params);
    return cudaGetLastError();
}

cudaError_t mlp_fast_free(mlp_fast *net)
{
    /* TODO: every buffer, then the struct (about 6 lines). */
    NOT_IMPLEMENTED(net);
    return cudaGetLastError();
}
