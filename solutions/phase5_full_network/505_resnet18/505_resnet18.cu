/*
 * 505_resnet18.cu: ResNet-18 on the GPU, from your own layers and nothing else.
 *
 * The idea: the weights go to the device once, and the activations stay there, from the image to
 * the logits. Two copies are left, one at each end; in between the network is a row of launches,
 * 69 of them, in one stream, which keeps them in order. Nothing waits for the host.
 *
 *     stem     conv1  batchnorm  relu  maxpool
 *     block    conv1  batchnorm  relu  conv2  batchnorm  (conv 1x1 /2  batchnorm)  add  relu
 *     head     mean of each plane  linear
 *
 * The table of resnet18_layout.h says which convolution has which shape, so that no layer is
 * written out: all blocks are one function. Memory is taken once, for the largest batch so far, and
 * a smaller one uses the front of it. So every size is computed from the batch in hand, never from
 * the memory that there is: behind the batch are numbers of an earlier one, and they look right.
 *
 * What it costs: most launches compute next to nothing. 45 of 69 are normalizations, ReLUs and
 * additions, and each takes a whole activation through memory and back, which the kernel before it
 * had in registers. 507 folds and fuses them away, and makes one launch of all that remain.
 *
 * Given: the memory of a batch (stage_floats, take, reserve), creating, counting and freeing.
 * Yours: the parts of the network (conv_bn, stem, block, head), the loop over them, and the copies
 * at both ends.
 */
#include "203_vector_add/vector_add.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"
#include "309_batchnorm/batchnorm.h"
#include "310_pooling/pooling.h"
#include "505_resnet18/resnet18.h"
#include "cuda_check.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
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

/* @return the floats of a stage of one image */
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

/* Room for a batch, in one allocation that stays: only a batch larger than all before allocates.
 * The arrays are laid out anew in each call, for the batch in hand. */
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

/* y[batch x out_channels x out x out] = batchnorm(convolution `number` of x), where x is
 * [batch x in_channels x in x in]. `size`: pixels a side of the network's images, never of x. */
static cudaError_t conv_bn(const resnet18 *net, float *y, const float *x, int number, int batch,
                           int size, cudaStream_t stream)
{
    /* SOLUTION: let c be that convolution's row of resnet18_convs. Compute in and out, the pixels
       a side of x and y (resnet18_in_size, resnet18_out_size). Convolve (307), with the filters at
       net->params + c->w and without a bias. Then normalize (309), in place in y; its arrays begin
       at c->mean, c->var, c->gamma and c->beta (about 10 lines). */
    const resnet18_conv *c = &resnet18_convs[number];
    const float *p = net->params;
    int in = resnet18_in_size(number, size);
    int out = resnet18_out_size(in, c->kernel, c->stride, c->pad);
    CUDA_CHECK(conv2d_implicit_gemm(y, x, p + c->w, NULL, batch, c->in_channels, in, in,
                                    c->out_channels, c->kernel, c->kernel, c->stride, c->pad,
                                    stream));
    CUDA_CHECK(batchnorm_infer(y, y, p + c->mean, p + c->var, p + c->gamma, p + c->beta, batch,
                               c->out_channels, out, out, RESNET18_BN_EPS, stream));
    /* END SOLUTION */
    return cudaSuccess;
}

/* From the images x[batch x 3 x size x size] to stage 0: y[batch x 64 x side x side], whose side
 * is what the pooling leaves. */
static cudaError_t stem(const resnet18 *net, float *y, const float *x, int batch, int size,
                        cudaStream_t stream)
{
    /* SOLUTION: convolution 0 with its batch normalization writes net->stem, whose side is its
       output size; ReLU in place (301); max pooling (310) of 3 x 3 with stride 2 and padding 1
       writes y, and its indices to net->argmax (about 7 lines). */
    const resnet18_conv *c = &resnet18_convs[0];
    int side = resnet18_out_size(size, c->kernel, c->stride, c->pad);
    size_t count = (size_t)batch * c->out_channels * side * side;
    CUDA_CHECK(conv_bn(net, net->stem, x, 0, batch, size, stream));
    CUDA_CHECK(relu_forward(net->stem, net->stem, count, stream));
    CUDA_CHECK(maxpool2d_forward(y, net->argmax, net->stem, batch, c->out_channels, side, side, 3,
                                 2, 1, stream));
    /* END SOLUTION */
    return cudaSuccess;
}

/* Block `number`, from 0 on: from x, which is stage `number`, to y, the stage after it. `size` is
 * that of the images here, too. */
static cudaError_t block(const resnet18 *net, float *y, const float *x, int number, int batch,
                         int size, cudaStream_t stream)
{
    /* SOLUTION: let b be the block's row of resnet18_blocks. b->conv1 writes net->middle; ReLU in
       place (301); b->conv2 writes y. The shortcut is x. Where b->downsample is a convolution (not
       -1), the shortcut is what it makes of x, in net->shortcut. Add the shortcut to y (203), then
       ReLU. Middle, shortcut and y have the shape of stage `number` + 1 (about 12 lines). */
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
    /* END SOLUTION */
    return cudaSuccess;
}

/* From x, the last block's stage, to features[batch x RESNET18_FEATURES], the mean of each plane,
 * and logits[batch x RESNET18_CLASSES]. */
static cudaError_t head(const resnet18 *net, float *logits, float *features, const float *x,
                        int batch, int size, cudaStream_t stream)
{
    /* SOLUTION: channels and side of x, stage RESNET18_BLOCKS (resnet18_stage_shape); the mean
       of each plane (310); the linear layer (303), whose weights and bias begin at RESNET18_FC_W
       and RESNET18_FC_BIAS of net->params (about 6 lines). */
    int channels, side;
    resnet18_stage_shape(RESNET18_BLOCKS, size, &channels, &side);
    CUDA_CHECK(global_avgpool_forward(features, x, batch, channels, side, side, stream));
    CUDA_CHECK(linear_forward(logits, features, net->params + RESNET18_FC_W,
                              net->params + RESNET18_FC_BIAS, batch, channels, RESNET18_CLASSES,
                              stream));
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t resnet18_create(resnet18 **net, const float *h_params)
{
    *net = NULL;
    size_t bytes = RESNET18_FLOATS * sizeof(float);
    resnet18 *created = (resnet18 *)calloc(1, sizeof *created);
    if (created == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMalloc((void **)&created->params, bytes);
    if (error == cudaSuccess)
        error = cudaMemcpy(created->params, h_params, bytes, cudaMemcpyHostToDevice);
    /* That used the default stream, for which the caller's streams need not wait. */
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        resnet18_free(created);
        return error;
    }
    *net = created;
    return cudaGetLastError();
}

cudaError_t resnet18_forward(resnet18 *net, float *logits, float *activations, const float *x,
                             int batch, int size, cudaStream_t stream)
{
    if (batch == 0) return cudaSuccess;
    CUDA_CHECK(reserve(net, batch, size));
    /* SOLUTION: the stem, then the RESNET18_BLOCKS blocks, each from the stage before it. Where
       activations is not NULL, the stages and then the features go there, one behind the other
       (take, stage_floats). Else the stages go to net->here and net->next in turn, and the features
       to net->features. Then the head (about 14 lines). */
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
    if (batch == 0) return cudaSuccess;
    size_t images = (size_t)batch * 3 * size * size * sizeof(float);
    size_t logits = (size_t)batch * RESNET18_CLASSES * sizeof(float);
    CUDA_CHECK(reserve(net, batch, size));
    /* SOLUTION: `images` bytes to net->x; forward, without activations, to net->logits; `logits`
       bytes back; wait for the stream (about 4 lines). */
    CUDA_CHECK(cudaMemcpyAsync(net->x, h_x, images, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(resnet18_forward(net, net->logits, NULL, net->x, batch, size, stream));
    CUDA_CHECK(cudaMemcpyAsync(h_logits, net->logits, logits, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    /* END SOLUTION */
    return cudaGetLastError();
}

size_t resnet18_device_bytes(const resnet18 *net)
{
    return (RESNET18_FLOATS + net->floats) * sizeof(float);
}

cudaError_t resnet18_free(resnet18 *net)
{
    if (net == NULL) return cudaSuccess;
    cudaFree(net->params);
    cudaFree(net->memory);
    free(net);
    return cudaGetLastError();
}
