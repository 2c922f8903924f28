/*
 * 505_resnet18.cu: ResNet-18 on the GPU, from your own layers and nothing else.
 *
 * The idea: what is learned goes to the device once, and there activations stay, from the image to
 * the logits. Two copies are left, one at each end; in between the network is a row of launches,
 * 69 of them, in one stream, which alone keeps them in order. Nothing waits for the host.
 *
 *     stem     conv1  batchnorm  relu  maxpool
 *     block    conv1  batchnorm  relu  conv2  batchnorm  (conv 1x1 /2  batchnorm)  add  relu
 *     head     mean of each plane  linear
 *
 * The table of resnet18_layout.h says which convolution has which shape, so that no layer is
 * written out: all blocks are one function. Memory is taken once, for the largest batch so far, and
 * a smaller one uses the front of it. So every size is computed from the batch in hand, never from
 * the room that there is: what lies behind are numbers of an earlier batch, and they look right.
 *
 * What it costs: most launches compute next to nothing. 45 of 69 are normalizations, ReLUs and
 * additions, and each takes a whole activation through memory and back, which the kernel before it
 * had in registers. 507 folds and fuses them away, and makes one launch of all that remain.
 */
#include "203_vector_add/vector_add.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"
#include "309_batchnorm/batchnorm.h"
#include "310_pooling/pooling.h"
#include "505_resnet18/resnet18.h"
#include "cuda_check.h"
#include "not_implemented.h"

#include <stdlib.h>

/* All pointers are device memory. */
struct resnet18 {
    float *params; /* [RESNET18_FLOATS] */

    float *memory; /* [floats] of which these are parts, for the batch in hand: */
    size_t floats;
    float *x;                 /* [batch x 3 x size x size] images from the host */
    float *stem;              /* [batch x 64 x side x side] what the pooling reads */
    float *here, *next;       /* a stage and the one after it, where the caller wants no stages */
    float *middle, *shortcut; /* of a block */
    int *argmax;              /* of the pooling */
    float *features;          /* [batch x RESNET18_FEATURES] */
    float *logits;            /* [batch x RESNET18_CLASSES] for the host */
};

/* TODO: helpers: stage_floats, the size of a stage of one image; reserve, room for a batch, in
 * one allocation that stays (about 40 lines). */

/* TODO: conv_bn: one convolution of the table, and its batch normalization, in place (about 15
 * lines). */

/* TODO: stem: from the images to stage 0 (about 13 lines). */

/* TODO: block: from stage `number` to the next (about 18 lines). */

/* TODO: head: from the last block's stage to features and logits (about 11 lines). */

cudaError_t resnet18_create(resnet18 **net, const float *h_params)
{
    *net = NULL;
    /* TODO: a zeroed struct, the parameters on the device; nothing is left behind on an error
       (about 14 lines). */
    NOT_IMPLEMENTED(net, h_params);
    return cudaGetLastError();
}

cudaError_t resnet18_forward(resnet18 *net, float *logits, float *activations, const float *x,
                             int batch, int size, cudaStream_t stream)
{
    /* TODO: stem, blocks, head, each stage written where the caller wants it, or to one of two
       buffers in turn (about 20 lines). */
    NOT_IMPLEMENTED(net, logits, activations, x, batch, size, stream);
    return cudaGetLastError();
}

cudaError_t resnet18_classify(resnet18 *net, float *h_logits, const float *h_x, int batch, int size,
                              cudaStream_t stream)
{
    /* TODO: room, a copy, forward, a copy, and wait for it (about 11 lines). */
    NOT_IMPLEMENTED(net, h_logits, h_x, batch, size, stream);
    return cudaGetLastError();
}

size_t resnet18_device_bytes(const resnet18 *net)
{
    /* TODO: parameters and activations (1 line). */
    NOT_IMPLEMENTED(net);
    return 0;
}

cudaError_t resnet18_free(resnet18 *net)
{
    /* TODO: both allocations, then the struct (about 4 lines). */
    NOT_IMPLEMENTED(net);
    return cudaGetLastError();
}
