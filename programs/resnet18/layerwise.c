/*
 * layerwise.c: ResNet-18 with copies between layers: two steps of the way to the GPU that cost more
 * than they gain, and show why.
 *
 *   transfer   every layer is computed on the CPU; what it gives goes to the GPU and back. Nothing
 *              is gained: it is the price of a copy for each layer, alone.
 *   conv_bn    convolutions (306) and batch normalizations (309) are computed on the GPU, the rest
 *              on the CPU: each of the 40 takes its input there and its output back.
 *
 * Copies are from ordinary memory, and the CPU waits for each: as one begins.
 */
#include "program.h"

#include "cpu.h"
#include "cuda_check.h"
#include "layers.h"
#include <stdlib.h>
#include <string.h>

#define ROOMS 4 /* activations that live at once: input, middle, output and shortcut of a block */

struct layerwise {
    float *params;       /* [RESNET18_FLOATS] */
    float *room[ROOMS];  /* [batch x the largest activation] each */
    float *columns;      /* [the largest of im2col] */
    int batch, size;     /* that there is room for */
    bool on_device;      /* convolutions and batch normalizations */
    float *d_params;     /* [RESNET18_FLOATS], only then */
    float *d_in, *d_out; /* a room each, on the device */
    size_t device_bytes;
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Floats of one image: of the largest activation, and of the largest columns. */
static void largest(size_t *activation, size_t *columns, int size)
{
    *activation = (size_t)3 * size * size;
    *columns = 0;
    for (int i = 0; i < RESNET18_CONVS; i++) {
        const resnet18_conv *c = &resnet18_convs[i];
        const int out = resnet18_out_size(resnet18_in_size(i, size), c->kernel, c->stride, c->pad);
        const size_t pixels = (size_t)out * out;
        const size_t window = (size_t)c->in_channels * c->kernel * c->kernel;
        if (pixels * c->out_channels > *activation) *activation = pixels * c->out_channels;
        if (pixels * window > *columns) *columns = pixels * window;
    }
}

static cudaError_t take(layerwise *n, float **d_floats, size_t floats)
{
    CUDA_CHECK(cudaMalloc((void **)d_floats, floats * sizeof(float)));
    n->device_bytes += floats * sizeof(float);
    return cudaSuccess;
}

static cudaError_t take_params(layerwise *n, const float *h_params)
{
    const size_t bytes = RESNET18_FLOATS * sizeof(float);
    n->params = malloc(bytes);
    if (!n->params) return cudaErrorMemoryAllocation;
    memcpy(n->params, h_params, bytes);
    if (!n->on_device) return cudaSuccess;
    CUDA_CHECK(take(n, &n->d_params, RESNET18_FLOATS));
    return cudaMemcpy(n->d_params, h_params, bytes, cudaMemcpyHostToDevice);
}

static cudaError_t drop_rooms(layerwise *n)
{
    for (int i = 0; i < ROOMS; i++) free(n->room[i]);
    free(n->columns);
    memset(n->room, 0, sizeof n->room);
    n->columns = NULL;
    CUDA_CHECK(cudaFree(n->d_in));
    CUDA_CHECK(cudaFree(n->d_out));
    n->d_in = n->d_out = NULL;
    n->device_bytes = n->d_params ? RESNET18_FLOATS * sizeof(float) : 0;
    n->batch = n->size = 0;
    return cudaSuccess;
}

/* Room for a batch that is larger than any before. */
static cudaError_t reserve(layerwise *n, int batch, int size)
{
    size_t room, columns;
    if (batch <= n->batch && size == n->size) return cudaSuccess;
    CUDA_CHECK(drop_rooms(n));
    largest(&room, &columns, size);
    room *= (size_t)batch;
    n->columns = malloc(columns * sizeof(float));
    for (int i = 0; i < ROOMS; i++) {
        n->room[i] = malloc(room * sizeof(float));
        if (!n->room[i] || !n->columns) return cudaErrorMemoryAllocation;
    }
    CUDA_CHECK(take(n, &n->d_out, room));
    if (n->on_device) CUDA_CHECK(take(n, &n->d_in, room));
    n->batch = batch;
    n->size = size;
    return cudaSuccess;
}

cudaError_t layerwise_create(layerwise **net, const float *h_params, bool on_device)
{
    layerwise *n = calloc(1, sizeof *n);
    *net = n;
    if (!n) return cudaErrorMemoryAllocation;
    n->on_device = on_device;
    const cudaError_t error = take_params(n, h_params);
    if (error) {
        layerwise_free(n);
        *net = NULL;
    }
    return error;
}

size_t layerwise_device_bytes(const layerwise *n)
{
    return n->device_bytes;
}

cudaError_t layerwise_free(layerwise *n)
{
    if (!n) return cudaSuccess;
    CUDA_CHECK(drop_rooms(n));
    free(n->params);
    CUDA_CHECK(cudaFree(n->d_params));
    free(n);
    return cudaSuccess;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static cudaError_t to_device(float *d_x, const float *h_x, size_t floats)
{
    return cudaMemcpy(d_x, h_x, floats * sizeof(float), cudaMemcpyHostToDevice);
}

static cudaError_t to_host(float *h_x, const float *d_x, size_t floats)
{
    return cudaMemcpy(h_x, d_x, floats * sizeof(float), cudaMemcpyDeviceToHost);
}

/* What the CPU computed goes there and back, if that is what this network is about. */
static cudaError_t round_trip(layerwise *n, float *h_y, size_t floats)
{
    if (n->on_device) return cudaSuccess;
    CUDA_CHECK(to_device(n->d_out, h_y, floats));
    return to_host(h_y, n->d_out, floats);
}

static cudaError_t convolution_on_device(layerwise *n, float *y, const float *x,
                                         const resnet18_conv *c, int batch, int side, size_t floats,
                                         cudaStream_t stream)
{
    CUDA_CHECK(to_device(n->d_in, x, (size_t)batch * c->in_channels * side * side));
    CUDA_CHECK(conv2d_forward(n->d_out, n->d_in, n->d_params + c->w, NULL, batch, c->in_channels,
                              side, side, c->out_channels, c->kernel, c->kernel, c->stride, c->pad,
                              stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return to_host(y, n->d_out, floats);
}

static cudaError_t batchnorm_on_device(layerwise *n, float *y, const resnet18_conv *c, int batch,
                                       int out, size_t floats, cudaStream_t stream)
{
    const float *p = n->d_params;
    CUDA_CHECK(to_device(n->d_in, y, floats));
    CUDA_CHECK(batchnorm_infer(n->d_out, n->d_in, p + c->mean, p + c->var, p + c->gamma,
                               p + c->beta, batch, c->out_channels, out, out, RESNET18_BN_EPS,
                               stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return to_host(y, n->d_out, floats);
}

/* Convolution i and its batch normalization. @param side of x. @param out receives that of y */
static cudaError_t conv_bn(layerwise *n, float *y, const float *x, int i, int batch, int side,
                           int *out, cudaStream_t stream)
{
    const resnet18_conv *c = &resnet18_convs[i];
    const float *p = n->params;
    *out = resnet18_out_size(side, c->kernel, c->stride, c->pad);
    const size_t floats = (size_t)batch * c->out_channels * *out * *out;
    if (n->on_device) {
        CUDA_CHECK(convolution_on_device(n, y, x, c, batch, side, floats, stream));
        return batchnorm_on_device(n, y, c, batch, *out, floats, stream);
    }
    conv2d_cpu_im2col(y, n->columns, x, p + c->w, NULL, batch, c->in_channels, side, side,
                      c->out_channels, c->kernel, c->kernel, c->stride, c->pad);
    CUDA_CHECK(round_trip(n, y, floats));
    profile_begin_host(BATCHNORM);
    host_batchnorm(y, y, p + c->mean, p + c->var, p + c->gamma, p + c->beta, batch, c->out_channels,
                   *out * *out, RESNET18_BN_EPS);
    profile_end_host();
    return round_trip(n, y, floats);
}

static cudaError_t relu(layerwise *n, float *y, size_t floats)
{
    profile_begin_host(RELU_ADD);
    host_relu(y, y, floats);
    profile_end_host();
    return round_trip(n, y, floats);
}

static cudaError_t add_relu(layerwise *n, float *y, const float *shortcut, size_t floats)
{
    profile_begin_host(RELU_ADD);
    host_add_relu(y, y, shortcut, floats);
    profile_end_host();
    return round_trip(n, y, floats);
}

/* ---- the network ----------------------------------------------------------------------------- */

/* conv1 to pooling: room 0 receives it. */
static cudaError_t stem(layerwise *n, const float *x, int batch, int size, int *side,
                        cudaStream_t stream)
{
    const int channels = resnet18_convs[0].out_channels;
    int out;
    CUDA_CHECK(conv_bn(n, n->room[1], x, 0, batch, size, &out, stream));
    CUDA_CHECK(relu(n, n->room[1], (size_t)batch * channels * out * out));
    *side = resnet18_out_size(out, 3, 2, 1);
    profile_begin_host(POOLING);
    host_maxpool(n->room[0], n->room[1], batch * channels, out, 3, 2, 1);
    profile_end_host();
    return round_trip(n, n->room[0], (size_t)batch * channels * *side * *side);
}

/* Room 0 is what it reads, and receives what it gives. */
static cudaError_t block(layerwise *n, const resnet18_block *b, int batch, int *side,
                         cudaStream_t stream)
{
    float *x = n->room[0], *middle = n->room[1], *y = n->room[2], *shortcut = x;
    int out, same;
    CUDA_CHECK(conv_bn(n, middle, x, b->conv1, batch, *side, &out, stream));
    const size_t floats = (size_t)batch * resnet18_convs[b->conv2].out_channels * out * out;
    CUDA_CHECK(relu(n, middle, floats));
    CUDA_CHECK(conv_bn(n, y, middle, b->conv2, batch, out, &same, stream));
    if (b->downsample >= 0) {
        shortcut = n->room[3];
        CUDA_CHECK(conv_bn(n, shortcut, x, b->downsample, batch, *side, &same, stream));
    }
    CUDA_CHECK(add_relu(n, y, shortcut, floats));
    n->room[0] = y;
    n->room[2] = x;
    *side = out;
    return cudaSuccess;
}

/* The mean of each plane, and the linear layer. @param features [batch x RESNET18_FEATURES] */
static cudaError_t head(layerwise *n, float *h_logits, float *features, int batch, int side)
{
    profile_begin_host(POOLING);
    host_avgpool(features, n->room[0], batch * RESNET18_FEATURES, side * side);
    profile_end_host();
    CUDA_CHECK(round_trip(n, features, (size_t)batch * RESNET18_FEATURES));
    profile_begin_host(LINEAR);
    host_linear(h_logits, features, n->params + RESNET18_FC_W, n->params + RESNET18_FC_BIAS, batch,
                RESNET18_FEATURES, RESNET18_CLASSES);
    profile_end_host();
    return round_trip(n, h_logits, (size_t)batch * RESNET18_CLASSES);
}

/* Append what a stage gives to the activations, if they are wanted. */
static void keep(float **h_activations, const float *x, int stage, int batch, int size)
{
    int channels, side;
    if (!*h_activations) return;
    resnet18_stage_shape(stage, size, &channels, &side);
    const size_t floats = (size_t)batch * channels * side * side;
    memcpy(*h_activations, x, floats * sizeof(float));
    *h_activations += floats;
}

cudaError_t layerwise_forward(layerwise *n, float *h_logits, float *h_activations, const float *h_x,
                              int batch, int size, cudaStream_t stream)
{
    int side;
    CUDA_CHECK(reserve(n, batch, size));
    CUDA_CHECK(stem(n, h_x, batch, size, &side, stream));
    keep(&h_activations, n->room[0], 0, batch, size);
    for (int i = 0; i < RESNET18_BLOCKS; i++) {
        CUDA_CHECK(block(n, &resnet18_blocks[i], batch, &side, stream));
        keep(&h_activations, n->room[0], i + 1, batch, size);
    }
    CUDA_CHECK(head(n, h_logits, n->room[1], batch, side));
    keep(&h_activations, n->room[1], RESNET18_STAGES - 1, batch, size);
    return cudaSuccess;
}
