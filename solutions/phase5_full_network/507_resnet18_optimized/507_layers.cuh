/*
 * 507_layers.cuh: the parts of the network that do not depend on images: the shapes of its layers,
 * where their activations lie, and one arena that holds everything.
 *
 * Activations take turns in 3 slots. A block reads x, needs a place for what its first convolution
 * makes, and writes its result over its shortcut: each thread has read what it replaces. So a block
 * whose shortcut is x itself takes two slots, and one with a convolution in its shortcut three.
 *
 * All of this file is given.
 */
#ifndef LAYERS_CUH
#define LAYERS_CUH

#include "507_hopper_stem.cuh"
#include "507_plan.cuh"
#include "507_prepare.cuh"
#include "cuda_check.h"

#define LAYERS (RESNET18_CONVS + 1) /* the linear layer is the last */
#define SLOTS  3

/* The linear layer, or a convolution with all that follows it. */
typedef struct layer {
    conv_args args;
    conv_variant variant;
    hopper_layer hopper;              /* computes it instead, if it has a kernel */
    size_t w, bias, partial, arrived; /* where they lie in the arena */
    int from, to;                     /* slots of x and y; residual is in y's, if there is one */
    bool residual;
    bool joins; /* waits for two streams */
} layer;

struct resnet18_opt {
    resnet18_precision precision;
    int batch, size, element_bytes;
    int hopper;                            /* multiprocessors of a Hopper GPU, else 0 */
    hopper_stem stem;                      /* computes all before the blocks, if it has a kernel */
    int stem_side, pooled_side, last_side; /* of images after conv1, pooling, the last block */
    layer layers[LAYERS];
    size_t slot[SLOTS], slot_bytes[SLOTS]; /* where they begin in the arena */
    int framed, pooled, last, features;    /* slots of the image, the pooled stem, ... */
    size_t counters, counters_bytes;       /* of all layers */
    char *arena;
    size_t bytes;
    cudaStream_t side_stream;
    cudaEvent_t forked, joined;
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    cudaGraphNode_t first_node, last_node;
    const float *x; /* that the graph reads, and logits that it writes */
    float *logits;
};

static int chunks_of(const resnet18_opt *net, int elements)
{
    return elements * net->element_bytes / 16;
}

/** @param k elements of a packed filter */
static void shape_common(conv_args *a, const resnet18_opt *net, int side, int channels, int k)
{
    a->side = side;
    a->pixels = net->batch * side * side;
    a->channels = channels;
    a->steps = k * net->element_bytes / ROW_BYTES;
}

/* The image is framed, so nothing is outside. A row of the window is 32 elements: 128 bytes of
 * floats, but 64 of halfs, where a tile row takes two rows of the window. */
static void shape_stem(conv_args *a, const resnet18_opt *net)
{
    const int rows = ROW_BYTES / (STEM_TAPS * STEM_CHANNELS * net->element_bytes);
    const int in_side = framed_side(net->size), line = chunks_of(net, in_side * STEM_CHANNELS);
    a->in_side = in_side;
    a->stride = 2;
    a->taps_h = STEM_TAPS / rows;
    a->taps_w = a->tap_steps = 1;
    a->image = in_side * line;
    a->out_row = 2 * line;
    a->out_col = chunks_of(net, 2 * STEM_CHANNELS);
    a->tap_row = rows * line;
    a->upper = rows == 1 ? 0 : line - CHUNKS / 2;
    shape_common(a, net, net->stem_side, resnet18_convs[0].out_channels,
                 STEM_TAPS * STEM_TAPS * STEM_CHANNELS);
}

/* Of any other layer; the linear one is a convolution of 1 x 1. */
static void shape_layer(conv_args *a, const resnet18_opt *net, int in_side, int in_channels,
                        int out_channels, int kernel, int stride, int pad)
{
    const int pixel = chunks_of(net, in_channels), line = in_side * pixel;
    a->in_side = in_side;
    a->stride = stride;
    a->pad = pad;
    a->taps_h = a->taps_w = kernel;
    a->tap_steps = pixel / CHUNKS;
    a->image = in_side * line;
    a->out_row = stride * line;
    a->out_col = stride * pixel;
    a->tap_row = line;
    a->tap_col = pixel;
    shape_common(a, net, resnet18_out_size(in_side, kernel, stride, pad), out_channels,
                 kernel * kernel * in_channels);
}

/** Slot `to` has to hold so many elements. */
static void reserve(resnet18_opt *net, int to, size_t elements)
{
    const size_t bytes = elements * net->element_bytes;
    if (net->slot_bytes[to] < bytes) net->slot_bytes[to] = bytes;
}

static layer *plan_conv(resnet18_opt *net, int i, int in_side, int from, int to)
{
    const resnet18_conv *c = &resnet18_convs[i];
    layer *l = &net->layers[i];
    if (i == 0)
        shape_stem(&l->args, net);
    else
        shape_layer(&l->args, net, in_side, c->in_channels, c->out_channels, c->kernel, c->stride,
                    c->pad);
    l->args.relu = true;
    l->from = from;
    l->to = to;
    if (i > 0 || net->stem.kernel == NULL)
        reserve(net, to, (size_t)l->args.pixels * c->out_channels);
    return l;
}

/* Its result lies where its shortcut was: that of a block with a 1 x 1 convolution in a new slot,
 * any other's where x was. @return the slot */
static int plan_block(resnet18_opt *net, const resnet18_block *b, int x, int *side)
{
    const int inner = (x + 1) % SLOTS, out = b->downsample < 0 ? x : (x + 2) % SLOTS;
    if (b->downsample >= 0) plan_conv(net, b->downsample, *side, x, out)->args.relu = false;
    *side = plan_conv(net, b->conv1, *side, x, inner)->args.side;
    layer *second = plan_conv(net, b->conv2, *side, inner, out);
    second->residual = true;
    second->joins = b->downsample >= 0;
    return out;
}

/* What the device has, and what that computes. */
static inline cudaError_t find_units(resnet18_opt *net)
{
    net->hopper = hopper_multiprocessors();
    if (net->hopper == 0) return cudaSuccess;
    return stem_choose(&net->stem, net->batch, net->size, net->precision, net->hopper);
}

/* The shapes of all layers, and which slots they read and write. */
static void plan_layers(resnet18_opt *net)
{
    const resnet18_conv *stem = &resnet18_convs[0];
    const size_t framed = framed_side(net->size);
    net->stem_side = resnet18_out_size(net->size, stem->kernel, stem->stride, stem->pad);
    net->pooled_side = resnet18_out_size(net->stem_side, 3, 2, 1);
    net->framed = 0;
    net->pooled = net->last = 2;
    plan_conv(net, 0, net->size, net->framed, 1);
    if (net->stem.kernel == NULL)
        reserve(net, net->framed, net->batch * framed * framed * STEM_CHANNELS);
    reserve(net, net->pooled,
            (size_t)net->batch * net->pooled_side * net->pooled_side * stem->out_channels);

    net->last_side = net->pooled_side;
    for (int i = 0; i < RESNET18_BLOCKS; i++) {
        net->last = plan_block(net, &resnet18_blocks[i], net->last, &net->last_side);
    }
    net->features = (net->last + 1) % SLOTS;
    reserve(net, net->features, (size_t)net->batch * RESNET18_FEATURES);
    layer *linear = &net->layers[RESNET18_CONVS];
    shape_layer(&linear->args, net, 1, RESNET18_FEATURES, RESNET18_CLASSES, 1, 1, 0);
    linear->args.y_is_float = true;
    linear->from = net->features;
    linear->to = -1; /* the caller's logits */
}

/** @return where so many bytes begin, at a multiple of 256 */
static size_t take(resnet18_opt *net, size_t bytes)
{
    const size_t at = net->bytes;
    net->bytes += (bytes + 255) / 256 * 256;
    return at;
}

static int whole_blocks(int filters)
{
    return (filters + FILTER_BLOCK - 1) / FILTER_BLOCK * FILTER_BLOCK;
}

/* Layers run one after the other and may leave their sums at one place, but for the shortcuts,
 * which run beside others. */
static void plan_splits(resnet18_opt *net)
{
    size_t most[2] = {0, 0}, at[2];
    for (int i = 0; i < LAYERS; i++) {
        const layer *l = &net->layers[i];
        const bool beside = !l->args.relu;
        const size_t floats = conv_partial_floats(&l->args, l->variant);
        if (most[beside] < floats) most[beside] = floats;
    }
    for (int i = 0; i < 2; i++) at[i] = take(net, most[i] * sizeof(float));
    for (int i = 0; i < LAYERS; i++) net->layers[i].partial = at[!net->layers[i].args.relu];

    net->counters = net->bytes;
    for (int i = 0; i < LAYERS; i++) {
        layer *l = &net->layers[i];
        l->arrived = take(net, conv_tiles(&l->args, l->variant) * sizeof(int));
    }
    net->counters_bytes = net->bytes - net->counters;
}

/** Of a convolution of a block. */
static inline hopper_shape hopper_shape_of(const resnet18_opt *net, int i)
{
    const resnet18_conv *c = &resnet18_convs[i];
    const conv_args *a = &net->layers[i].args;
    return hopper_shape{net->batch,      a->in_side, c->in_channels, a->side,
                        c->out_channels, c->kernel,  c->stride,      net->element_bytes};
}

/** @param cycles that conv_kernel takes */
static cudaError_t plan_hopper(resnet18_opt *net, int i, double cycles)
{
    layer *l = &net->layers[i];
    const hopper_shape shape = hopper_shape_of(net, i);
    CUDA_CHECK(hopper_choose(&l->hopper, &shape, net->precision, net->hopper, cycles));
    if (l->hopper.kernel == NULL) return cudaSuccess;
    l->args.splits = 1;
    return hopper_prepare(&l->hopper);
}

/** Bytes of a layer's weights. */
static size_t weights_bytes(const resnet18_opt *net, const layer *l)
{
    const int parts = l->hopper.kernel && net->precision == RESNET18_FP32 ? 2 : 1; /* hi, lo */
    return (size_t)parts * whole_blocks(l->args.channels) * l->args.steps * ROW_BYTES;
}

/* A place for everything, and a tile for every layer. */
static inline cudaError_t plan_arena(resnet18_opt *net)
{
    int device, processors, variant;
    double cycles;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    for (int i = 0; i < LAYERS; i++) {
        layer *l = &net->layers[i];
        const int filters = whole_blocks(l->args.channels);
        CUDA_CHECK(conv_choose(&variant, &cycles, &l->args, net->precision, processors));
        l->variant = conv_variant_of(net->precision, variant);
        if (net->hopper && i > 0 && i < RESNET18_CONVS) CUDA_CHECK(plan_hopper(net, i, cycles));
        l->w = take(net, weights_bytes(net, l));
        l->bias = take(net, filters * sizeof(float));
    }
    plan_splits(net);
    for (int i = 0; i < SLOTS; i++) net->slot[i] = take(net, net->slot_bytes[i]);
    return cudaSuccess;
}

/* Where things are in the arena, as pointers. */
static cudaError_t point_layer(const resnet18_opt *net, layer *l)
{
    conv_args *a = &l->args;
    a->x = (const uint4 *)(net->arena + net->slot[l->from]);
    a->y = l->to < 0 ? NULL : net->arena + net->slot[l->to];
    a->residual = l->residual ? a->y : NULL;
    a->w = (const uint4 *)(net->arena + l->w);
    a->bias = (const float *)(net->arena + l->bias);
    a->partial = (float *)(net->arena + l->partial);
    a->arrived = (int *)(net->arena + l->arrived);
    if (l->hopper.kernel == NULL) return cudaSuccess;
    return hopper_point(&l->hopper, a->x, a->y, a->residual, a->w, whole_blocks(a->channels),
                        a->bias, a->relu);
}

/** What pack_kernel needs of layer i, all of whose arrays lie in d_params. */
static filters filters_of(const float *d_params, int i)
{
    if (i == RESNET18_CONVS) {
        return filters{d_params + RESNET18_FC_W,
                       NULL,
                       d_params + RESNET18_FC_BIAS,
                       NULL,
                       NULL,
                       RESNET18_CLASSES,
                       RESNET18_FEATURES,
                       1,
                       1,
                       RESNET18_FEATURES,
                       RESNET18_FEATURES};
    }
    const resnet18_conv *c = &resnet18_convs[i];
    const int row = i == 0 ? STEM_TAPS : c->kernel;
    const int pixel = i == 0 ? STEM_CHANNELS : c->in_channels;
    return filters{d_params + c->w,
                   d_params + c->gamma,
                   d_params + c->beta,
                   d_params + c->mean,
                   d_params + c->var,
                   c->out_channels,
                   c->in_channels,
                   c->kernel,
                   row,
                   pixel,
                   row * row * pixel};
}

/* hi stays where the weights were, lo follows. */
__global__ static void split_weights_kernel(uint32_t *hi, uint32_t *lo, size_t count)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t whole = hi[i], rest;
    split<1>(&whole, &rest);
    hi[i] = whole;
    lo[i] = rest;
}

static cudaError_t split_weights(const resnet18_opt *net, const layer *l)
{
    const size_t count = weights_bytes(net, l) / 2 / sizeof(float);
    uint32_t *hi = (uint32_t *)(net->arena + l->w);
    split_weights_kernel<<<(unsigned)((count + 255) / 256), 256>>>(hi, hi + count, count);
    return cudaGetLastError();
}

template <resnet18_precision P>
static cudaError_t pack_layers(const resnet18_opt *net, const float *d_params)
{
    typedef typename element_of<P>::type element;
    for (int i = 0; i < LAYERS; i++) {
        const layer *l = &net->layers[i];
        const filters f = filters_of(d_params, i);
        pack_kernel<P><<<whole_blocks(f.filters), 256>>>((element *)(net->arena + l->w),
                                                         (float *)(net->arena + l->bias), f);
        CUDA_CHECK(cudaGetLastError());
        if (P == RESNET18_FP32 && l->hopper.kernel) CUDA_CHECK(split_weights(net, l));
    }
    return cudaSuccess;
}

static cudaError_t pack_in_precision(const resnet18_opt *net, const float *d_params)
{
    if (net->precision == RESNET18_FP16) return pack_layers<RESNET18_FP16>(net, d_params);
    if (net->precision == RESNET18_TF32) return pack_layers<RESNET18_TF32>(net, d_params);
    return pack_layers<RESNET18_FP32>(net, d_params);
}

/* The arena, pointers for all layers, and the weights packed. h_params: [RESNET18_FLOATS] */
static inline cudaError_t fill_arena(resnet18_opt *net, const float *h_params)
{
    const size_t bytes = RESNET18_FLOATS * sizeof(float);
    float *d_params = NULL;
    CUDA_CHECK(cudaMalloc((void **)&net->arena, net->bytes));
    for (int i = 0; i < LAYERS; i++) CUDA_CHECK(point_layer(net, &net->layers[i]));
    if (net->stem.kernel)
        CUDA_CHECK(stem_point(
            &net->stem, net->arena + net->slot[net->pooled], net->arena + net->layers[0].w,
            (const float *)(net->arena + net->layers[0].bias), net->element_bytes));
    CUDA_CHECK(cudaMemset(net->arena + net->counters, 0, net->counters_bytes));
    CUDA_CHECK(cudaMalloc((void **)&d_params, bytes));
    cudaError_t e = cudaMemcpy(d_params, h_params, bytes, cudaMemcpyHostToDevice);
    if (e == cudaSuccess) e = pack_in_precision(net, d_params);
    const cudaError_t done = cudaDeviceSynchronize(); /* d_params is read to its end */
    cudaFree(d_params);
    return e != cudaSuccess ? e : done;
}

#endif
