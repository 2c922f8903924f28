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

/* SOLUTION: helpers: stage_floats, the size of a stage of one image; reserve, room for a batch, in
 * one allocation that stays (about 40 lines). */
static size_t stage_floats(int stage, int size)
{
    int channels, side;
    resnet18_stage_shape(stage, size, &channels, &side);
    return (size_t)channels * side * side;
}

/* @return the next `count` floats of what is left */
static float *take(float **left, size_t count)
{
    float *taken = *left;
    *left += count;
    return taken;
}

static cudaError_t reserve(resnet18 *net, int batch, int size)
{
    int side = resnet18_out_size(size, resnet18_convs[0].kernel, 2, resnet18_convs[0].pad);
    size_t n = (size_t)batch, x = n * 3 * size * size, stem = n * 64 * side * side;
    size_t stage = n * stage_floats(0, size); /* the largest */
    size_t floats = x + stem + 5 * stage + n * (RESNET18_FEATURES + RESNET18_CLASSES);
    if (floats > net->floats) {
        net->floats = 0;
        CUDA_CHECK(cudaFree(net->memory)); /* waits for kernels that use it */
        net->memory = NULL;
        CUDA_CHECK(cudaMalloc((void **)&net->memory, floats * sizeof(float)));
        net->floats = floats;
    }
    float *left = net->memory;
    net->x = take(&left, x);
    net->stem = take(&left, stem);
    net->here = take(&left, stage);
    net->next = take(&left, stage);
    net->middle = take(&left, stage);
    net->shortcut = take(&left, stage);
    net->argmax = (int *)take(&left, stage);
    net->features = take(&left, n * RESNET18_FEATURES);
    net->logits = take(&left, n * RESNET18_CLASSES);
    return cudaSuccess;
}
/* END SOLUTION */

/* SOLUTION: conv_bn: one convolution of the table, and its batch normalization, in place (about 15
 * lines). */
static cudaError_t conv_bn(const resnet18 *net, float *y, const float *x, int number, int batch,
                           int size, cudaStream_t stream)
{
    const resnet18_conv *c = &resnet18_convs[number];
    const float *p = net->params;
    int in = resnet18_in_size(number, size);
    int out = resnet18_out_size(in, c->kernel, c->stride, c->pad);
    CUDA_CHECK(conv2d_implicit_gemm(y, x, p + c->w, NULL, batch, c->in_channels, in, in,
                                    c->out_channels, c->kernel, c->kernel, c->stride, c->pad,
                                    stream));
    CUDA_CHECK(batchnorm_infer(y, y, p + c->mean, p + c->var, p + c->gamma, p + c->beta, batch,
                               c->out_channels, out, out, RESNET18_BN_EPS, stream));
    return cudaSuccess;
}
/* END SOLUTION */

/* SOLUTION: stem: from the images to stage 0 (about 13 lines). */
static cudaError_t stem(const resnet18 *net, float *y, const float *x, int batch, int size,
                        cudaStream_t stream)
{
    const resnet18_conv *c = &resnet18_convs[0];
    int side = resnet18_out_size(size, c->kernel, c->stride, c->pad);
    size_t count = (size_t)batch * c->out_channels * side * side;
    CUDA_CHECK(conv_bn(net, net->stem, x, 0, batch, size, stream));
    CUDA_CHECK(relu_forward(net->stem, net->stem, count, stream));
    CUDA_CHECK(maxpool2d_forward(y, net->argmax, net->stem, batch, c->out_channels, side, side, 3,
                                 2, 1, stream));
    return cudaSuccess;
}
/* END SOLUTION */

/* SOLUTION: block: from stage `number` to the next (about 18 lines). */
static cudaError_t block(const resnet18 *net, float *y, const float *x, int number, int batch,
                         int size, cudaStream_t stream)
{
    const resnet18_block *b = &resnet18_blocks[number];
    const float *shortcut = x;
    size_t count = (size_t)batch * stage_floats(number + 1, size);
    CUDA_CHECK(conv_bn(net, net->middle, x, b->conv1, batch, size, stream));
    CUDA_CHECK(relu_forward(net->middle, net->middle, count, stream));
    CUDA_CHECK(conv_bn(net, y, net->middle, b->conv2, batch, size, stream));
    if (b->downsample >= 0) {
        CUDA_CHECK(conv_bn(net, net->shortcut, x, b->downsample, batch, size, stream));
        shortcut = net->shortcut;
    }
    CUDA_CHECK(vector_add(y, y, shortcut, count, stream));
    CUDA_CHECK(relu_forward(y, y, count, stream)); /* after the addition */
    return cudaSuccess;
}
/* END SOLUTION */

/* SOLUTION: head: from the last block's stage to features and logits (about 11 lines). */
static cudaError_t head(const resnet18 *net, float *logits, float *features, const float *x,
                        int batch, int size, cudaStream_t stream)
{
    int channels, side;
    resnet18_stage_shape(RESNET18_BLOCKS, size, &channels, &side);
    CUDA_CHECK(global_avgpool_forward(features, x, batch, channels, side, side, stream));
    CUDA_CHECK(linear_forward(logits, features, net->params + RESNET18_FC_W,
                              net->params + RESNET18_FC_BIAS, batch, channels, RESNET18_CLASSES,
                              stream));
    return cudaSuccess;
}
/* END SOLUTION */

cudaError_t resnet18_create(resnet18 **net, const float *h_params)
{
    *net = NULL;
    /* SOLUTION: a zeroed struct, the parameters on the device; nothing is left behind on an error
       (about 14 lines). */
    size_t bytes = RESNET18_FLOATS * sizeof(float);
    resnet18 *created = (resnet18 *)calloc(1, sizeof *created);
    if (created == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMalloc((void **)&created->params, bytes);
    if (error == cudaSuccess)
        error = cudaMemcpy(created->params, h_params, bytes, cudaMemcpyHostToDevice);
    /* That was the default stream, for which the caller's streams need not wait. */
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        resnet18_free(created);
        return error;
    }
    *net = created;
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t resnet18_forward(resnet18 *net, float *logits, float *activations, const float *x,
                             int batch, int size, cudaStream_t stream)
{
    /* SOLUTION: stem, blocks, head, each stage written where the caller wants it, or to one of two
       buffers in turn (about 20 lines). */
    if (batch == 0) return cudaSuccess;
    CUDA_CHECK(reserve(net, batch, size));
    float *left = activations, *buffers[] = {net->here, net->next};
    const float *before = x;
    for (int stage = 0; stage <= RESNET18_BLOCKS; stage++) {
        size_t count = (size_t)batch * stage_floats(stage, size);
        float *y = activations != NULL ? take(&left, count) : buffers[stage % 2];
        if (stage == 0)
            CUDA_CHECK(stem(net, y, before, batch, size, stream));
        else
            CUDA_CHECK(block(net, y, before, stage - 1, batch, size, stream));
        before = y;
    }
    float *features = activations != NULL ? left : net->features;
    CUDA_CHECK(head(net, logits, features, before, batch, size, stream));
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t resnet18_classify(resnet18 *net, float *h_logits, const float *h_x, int batch, int size,
                              cudaStream_t stream)
{
    /* SOLUTION: room, a copy, forward, a copy, and wait for it (about 11 lines). */
    if (batch == 0) return cudaSuccess;
    size_t images = (size_t)batch * 3 * size * size * sizeof(float);
    size_t logits = (size_t)batch * RESNET18_CLASSES * sizeof(float);
    CUDA_CHECK(reserve(net, batch, size));
    CUDA_CHECK(cudaMemcpyAsync(net->x, h_x, images, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(resnet18_forward(net, net->logits, NULL, net->x, batch, size, stream));
    CUDA_CHECK(cudaMemcpyAsync(h_logits, net->logits, logits, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    /* END SOLUTION */
    return cudaGetLastError();
}

size_t resnet18_device_bytes(const resnet18 *net)
{
    /* SOLUTION: parameters and activations (1 line). */
    return (RESNET18_FLOATS + net->floats) * sizeof(float);
    /* END SOLUTION */
}

cudaError_t resnet18_free(resnet18 *net)
{
    /* SOLUTION: both allocations, then the struct (about 4 lines). */
    if (net == NULL) return cudaSuccess;
    cudaFree(net->params);
    cudaFree(net->memory);
    free(net);
    /* END SOLUTION */
    return cudaGetLastError();
}
