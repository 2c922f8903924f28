/*
 * 5c_resnet18_int8.cu: ResNet-18 whose convolutions multiply whole numbers of 8 bits (413).
 *
 * The idea: what leaves a convolution is a sum of products of whole numbers, exact in an int. All
 * that follows it is one line for each channel:
 *
 *     q = round(sum * factor + shift + shortcut * add), at least 0 with ReLU, at most 127
 *     factor = in * filter / out    shift = bias / out    add = shortcut / out    of their scales
 *
 * Everything on the right is known when the network is made: the filters' scales by their weights,
 * the tensors' by some images, which a network of layers in fp32 (307, 309, 310) looks at first.
 *
 *     image -> patches of bytes -> conv1 -> pooling -> 8 blocks -> mean, linear layer in fp32
 *
 * One kernel is all convolutions: implicit GEMM, NHWC, rows of 128 bytes along k, which ldmatrix
 * and mma take as in 413. A step of k may have channels of two taps, so each thread knows the tap
 * of its own 16 bytes. conv1 has 3 channels, not a multiple of 16: a kernel before it writes its
 * windows as patches, 147 numbers and 13 zeros, and it becomes a convolution of 1 x 1. The linear
 * layer has 4 % of the weights, and nothing behind it that evens out its errors: it stays fp32.
 *
 * Given: which tensors a convolution reads, where they lie, and memory; pooling, mean, the tiles
 * and the ring of 413, launches; the network in fp32 that calibration runs. To write: how a float
 * becomes a byte and weights become bytes with a scale per filter, calibrate_kernel and calibrate,
 * the patches of conv1, what a thread copies of a window, the way back from sums to bytes, and the
 * forward call.
 *
 * The cost removed: three quarters of the bytes of weights and activations, and half of the tensor
 * cores' instructions for bf16. The cost left: some 25 launches; the last layers of a small batch
 * have few tiles, of which each goes along all of k (507 splits it); shortcuts are rounded to bytes
 * in between.
 */
#include "303_linear/linear.h"
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"
#include "309_batchnorm/batchnorm.h"
#include "310_pooling/pooling.h"
#include "5c_resnet18_int8/resnet18_int8.h"
#include "cuda_check.h"
#include "not_implemented.h"
#include "tensor_core.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */

#include <cuda_pipeline.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Tensor 0 .. 19 is what this convolution leaves. */
enum { IMAGE = RESNET18_CONVS, POOLED, TENSORS };

#define WINDOW  147 /* numbers of a window of conv1 */
#define PATCH   160 /* bytes of a patch: a multiple of 16 */
#define AT_ONCE 8   /* images to calibrate with, as long as there are any */

typedef struct layer {
    int reads, adds;   /* tensors; -1: none */
    int k;             /* bytes of a filter */
    size_t w, channel; /* bytes and channels of all convolutions before it */
} layer;

struct resnet18_int8 {
    layer layers[RESNET18_CONVS];
    int order[RESNET18_CONVS]; /* of the convolutions: a shortcut's is before what adds it */
    float scale[TENSORS];
    int processors;
    size_t channels, filters; /* of all convolutions: their number, and bytes of weights */

    char *weights;         /* device memory, [weight_bytes], of which these are parts: */
    int8_t *w;             /* [filters] filter after filter, tap after tap, channel after channel */
    float *factor, *shift; /* [channels] */
    float *linear;         /* [CLASSES x FEATURES], and biases */
    size_t weight_bytes;

    char *memory;           /* device memory, [bytes], for the batch in hand: */
    size_t at[TENSORS + 1]; /* elements before each tensor; the last: before the features */
    size_t bytes;
};

/* Which tensors each convolution reads and adds, where its weights begin, and the order. */
static void connect(resnet18_int8 *net)
{
    layer *l = net->layers;
    for (int i = 0; i < RESNET18_CONVS; i++) {
        const resnet18_conv *c = &resnet18_convs[i];
        l[i] =
            layer{IMAGE, -1, c->kernel * c->kernel * c->in_channels, net->filters, net->channels};
        if (i == 0) l[i].k = PATCH;
        net->filters += (size_t)c->out_channels * l[i].k;
        net->channels += c->out_channels;
    }
    for (int i = 0, n = 1, x = POOLED; i < RESNET18_BLOCKS; i++) {
        const resnet18_block *b = &resnet18_blocks[i];
        l[b->conv1].reads = x;
        l[b->conv2].reads = b->conv1;
        l[b->conv2].adds = b->downsample < 0 ? x : b->downsample;
        if (b->downsample >= 0) l[b->downsample].reads = x;
        if (b->downsample >= 0) net->order[n++] = b->downsample;
        net->order[n++] = b->conv1;
        net->order[n++] = x = b->conv2;
    }
}

static bool has_relu(int i)
{
    return resnet18_convs[i].kernel != 1; /* all but the shortcuts */
}

/* Pixels of a side of a tensor of images of size x size; of IMAGE: patches. */
static int side_of(int tensor, int size)
{
    if (tensor == POOLED) return resnet18_in_size(1, size);
    const int i = tensor == IMAGE ? 0 : tensor; /* a patch for each pixel of conv1 */
    const resnet18_conv *c = &resnet18_convs[i];
    return resnet18_out_size(resnet18_in_size(i, size), c->kernel, c->stride, c->pad);
}

static int channels_of(int tensor)
{
    if (tensor == IMAGE) return PATCH;
    return resnet18_convs[tensor == POOLED ? 0 : tensor].out_channels;
}

/** Where the tensors of a batch begin, in bytes as in floats: multiples of 16 elements. The floats
 * of an image fit where its patches lie. */
static void lay_out(size_t at[TENSORS + 1], int batch, int size)
{
    at[0] = 0;
    for (int i = 0; i < TENSORS; i++) {
        const size_t side = side_of(i, size);
        at[i + 1] = at[i] + side * side * batch * channels_of(i);
    }
}

/** @return q(x, scale) as resnet18_int8.h has it, -127 .. 127; of NaN 0 */
__device__ static int quantized(float x, float scale)
{
    /* TODO: rintf rounds halves to the even; mind the NaN (about 2 lines). */
    return {};
}

/** The windows of conv1, 7 x 7 with stride 2 and padding 3, as rows of bytes. The numbers of a
 * window stand as those of a filter do: [channel][row][col], then 13 zeros.
 *  @param patches [images x side x side x PATCH / 16], of which a thread writes one
 *  @param x       [images x 3 x size x size]
 *  @param count   of patches */
__global__ static void patches_kernel(int4 *patches, const float *x, float scale, int size,
                                      int side, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    /* TODO: thread i has 16 bytes of one pixel of y: which pixel, image and corner of the
       window, and the first of its 16 numbers. Each is `quantized`, or 0 beyond the image and
       behind the 147th; the 16 leave in one store (about 14 lines). */
}

/* y [images x side x side x 64]: the largest of 3 x 3 pixels, four channels a thread. */
__global__ static void pool_kernel(char4 *y, const char4 *x, int in_side, int side, int count)
{
    enum { EACH = 64 / 4 };
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int pixel = i / EACH, line = pixel / side, image = line / side;
    const int top = line % side * 2 - 1, left = pixel % side * 2 - 1;
    char4 most = make_char4(0, 0, 0, 0); /* after a ReLU nothing is less */
    for (int row = max(top, 0); row < min(top + 3, in_side); row++) {
        for (int col = max(left, 0); col < min(left + 3, in_side); col++) {
            const char4 v = x[((size_t)(image * in_side + row) * in_side + col) * EACH + i % EACH];
            most.x = max(most.x, v.x), most.y = max(most.y, v.y);
            most.z = max(most.z, v.z), most.w = max(most.w, v.w);
        }
    }
    y[i] = most;
}

/* features [images x 512]: a sum of bytes, which is exact, a channel a thread. */
__global__ static void mean_kernel(float *features, const int8_t *x, float scale, int pixels,
                                   int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    x += (size_t)(i / RESNET18_FEATURES) * pixels * RESNET18_FEATURES + i % RESNET18_FEATURES;
    int sum = 0;
    for (int p = 0; p < pixels; p++) sum += x[p * RESNET18_FEATURES];
    features[i] = (float)sum * scale / (float)pixels;
}

/* ---- the convolution ------------------------------------------------------------------------- */

#define ROW      128 /* bytes of k a step, and of a row of a tile */
#define CHANNELS 64  /* of a tile: PIXELS x CHANNELS; a warp has 32 x 32 of it */
#define STAGES   3
#define PITCH    (CHANNELS + 8) /* of sums on their way out: 4 rows of 8 ints meet in no bank */

/* What the kernel is told. */
typedef struct conv {
    int8_t *y;                   /* [pixels x channels], NHWC */
    const int8_t *x, *w;         /* NHWC; [channels x k] */
    const int8_t *shortcut;      /* as y, or NULL */
    const float *factor, *shift; /* [channels] */
    float add;                   /* what 1 of the shortcut is of 1 of y */
    int pixels, channels, side;  /* of y; pixels of all images */
    int in_channels, in_side, kernel, stride, pad, k;
    float least; /* 0 with ReLU, else -127 */
} conv;

/* What a thread copies of each step: its 16 bytes of the windows of four pixels, RISE rows of the
 * tile apart, and of CHANNELS / RISE filters; zeros for what lies outside. */
template <int PIXELS> struct source {
    enum { RISE = PIXELS / 4 }; /* rows that a block copies at once */
    const int8_t *window[4];    /* of each pixel: channel 0 of its window's corner */
    const int8_t *w;            /* this thread's next 16 bytes of its first filter */
    int top[4], left[4];        /* the corners */
    int r, s, channel;          /* the tap and the channel of its next 16 bytes */

    __device__ __forceinline__ source(const conv &c, int pixel, int filter)
    {
        const int row = threadIdx.x / 8, chunk = threadIdx.x % 8;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int at = pixel + row + i * RISE, line = at / c.side, image = line / c.side;
            top[i] = line % c.side * c.stride - c.pad;
            left[i] = at % c.side * c.stride - c.pad;
            const long long first = ((long long)image * c.in_side + top[i]) * c.in_side + left[i];
            window[i] = c.x + first * c.in_channels;
            if (at >= c.pixels) top[i] = -(1 << 30); /* outside with all its taps */
        }
        w = c.w + (size_t)(filter + row) * c.k + chunk * 16;
        r = s = 0;
        channel = chunk * 16;
        find_tap(c);
    }

    /** Of a channel beyond the last of a pixel: the tap that it belongs to, and its channel there.
     */
    __device__ __forceinline__ void find_tap(const conv &c)
    {
        /* TODO: taps follow each other by columns s, then by rows r, c.kernel of each (about 2
           lines). */
    }

    /** Send for the next step's bytes, and move on by ROW.
     *  @param tile the rows of pixels, and behind them those of filters. Chunk i of row j stands at
     *  place i ^ (j % 8): as RISE is a multiple of 8, a thread's place is the same in all rows. */
    __device__ __forceinline__ void copy(unsigned char *tile, const conv &c)
    {
        /* TODO: a copy of 16 bytes for each of four pixels, from window[i] and its tap, and for
           each of CHANNELS / RISE filters, RISE * c.k bytes apart in w, whose rows of the tile
           begin behind PIXELS of them. A tap beyond the image, and all behind the last tap (r ==
           c.kernel), is 16 zeros: the last argument of __pipeline_memcpy_async; the source must
           still be an address. Then w and channel move on, and find_tap (about 20 lines). */
    }
};

/** A warp's 32 x 32 sums over one step.
 *  @param a, b where this lane's row of the warp's first matrices lies; see 413 */
__device__ __forceinline__ static void multiply(int sum[2][4][4], uint32_t a, uint32_t b)
{
#pragma unroll
    for (int step = 0; step < ROW / 32; step++) {
        uint32_t a_part[2][4], b_part[2][4];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            ldmatrix(a_part[i], (a ^ step * 32) + i * 16 * ROW);
            ldmatrix(b_part[i], (b ^ step * 32) + i * 16 * ROW);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const uint32_t b_two[2] = {b_part[j / 2][j % 2], b_part[j / 2][j % 2 + 2]};
                mma_s8(sum[i][j], a_part[i], b_two);
            }
        }
    }
}

/** @return the byte of an output: sum * factor + shift + shortcut, at least `least`, at most 127.
 *  @param shortcut its byte times c.add; 0 where there is none */
__device__ __forceinline__ static signed char finished(int sum, float factor, float shift,
                                                       float shortcut, float least)
{
    /* TODO: in fp32, rounded by rintf (about 2 lines). */
    return {};
}

/** From the block's sums in shared memory to bytes of c.y, four channels at a time.
 *  @param sums   [PIXELS x CHANNELS, rows of PITCH]
 *  @param pixel, filter  of y, where the tile begins; it may reach beyond the last pixel */
template <int PIXELS>
__device__ __forceinline__ static void finish(const int *sums, const conv &c, int pixel, int filter)
{
    /* TODO: the block has PIXELS * 2 threads; neighbours take neighbouring channels. Read four
       sums, four factors and four shifts in one load each; of the shortcut, if there is one, four
       bytes, each times c.add; store four bytes at once (about 16 lines). */
}

/** A tile of PIXELS x CHANNELS of y: a ring of three stages, copied two ahead; the sums leave by
 * the same memory. */
template <int PIXELS> __global__ static void __launch_bounds__(PIXELS * 2) conv_kernel(const conv c)
{
    enum { STAGE = (PIXELS + CHANNELS) * ROW };
    extern __shared__ __align__(1024) unsigned char shared[];
    const int across = c.channels / CHANNELS;
    const int pixel = blockIdx.x / across * PIXELS, filter = blockIdx.x % across * CHANNELS;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_row = warp / 2 * 32, warp_col = warp % 2 * 32;
    const bool idle = pixel + warp_row >= c.pixels;
    const uint32_t at = shared_address(shared) + lane % 16 * ROW + (lane / 16 ^ lane % 8) * 16;
    const uint32_t a = at + warp_row * ROW, b = at + (PIXELS + warp_col) * ROW;
    const int steps = (c.k + ROW - 1) / ROW;
    source<PIXELS> from(c, pixel, filter);
    int sum[2][4][4] = {};

    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps) from.copy(shared + step * STAGE, c);
        __pipeline_commit(); /* an empty group too: what waits counts groups */
    }
    for (int step = 0; step < steps; step++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); /* this stage is complete, and nobody reads the one before any more */
        if (step + STAGES - 1 < steps) from.copy(shared + (step + STAGES - 1) % STAGES * STAGE, c);
        __pipeline_commit();
        if (!idle) multiply(sum, a + step % STAGES * STAGE, b + step % STAGES * STAGE);
    }
    __syncthreads(); /* the last stage is read */
    int *sums = (int *)shared;
#pragma unroll
    for (int i = 0; i < 16; i++) { /* lane l: two sums of row l / 4, two of l / 4 + 8 */
        const int row = warp_row + i / 4 * 8 + lane / 4, j = i % 4;
        const int *two = &sum[i / 8][j][i / 4 % 2 * 2];
        *(int2 *)&sums[row * PITCH + warp_col + j * 8 + lane % 4 * 2] = make_int2(two[0], two[1]);
    }
    __syncthreads(); /* what a thread takes away now, others have brought */
    finish<PIXELS>(sums, c, pixel, filter);
}

template <int PIXELS> static size_t shared_bytes(void)
{
    return (size_t)STAGES * (PIXELS + CHANNELS) * ROW;
}

static cudaError_t allow_shared(void)
{
    CUDA_CHECK(cudaFuncSetAttribute(conv_kernel<64>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)shared_bytes<64>()));
    return cudaFuncSetAttribute(conv_kernel<128>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)shared_bytes<128>());
}

template <int PIXELS> static int tiles(const conv *c)
{
    return (c->pixels + PIXELS - 1) / PIXELS * (c->channels / CHANNELS);
}

/* Convolution i: tiles of 128 pixels where there are enough of them for all processors, else of 64.
 */
static cudaError_t convolve(const resnet18_int8 *net, int i, int batch, int size,
                            cudaStream_t stream)
{
    const resnet18_conv *shape = &resnet18_convs[i];
    const layer *l = &net->layers[i];
    int8_t *memory = (int8_t *)net->memory;
    conv c = {};
    c.y = memory + net->at[i];
    c.x = memory + net->at[l->reads];
    c.w = net->w + l->w;
    c.factor = net->factor + l->channel;
    c.shift = net->shift + l->channel;
    c.channels = shape->out_channels, c.side = side_of(i, size);
    c.pixels = batch * c.side * c.side;
    c.in_channels = channels_of(l->reads), c.in_side = side_of(l->reads, size);
    c.kernel = shape->kernel, c.stride = shape->stride, c.pad = shape->pad, c.k = l->k;
    if (i == 0) c.kernel = c.stride = 1, c.pad = 0; /* of patches */
    c.least = has_relu(i) ? 0.0f : -127.0f;
    if (l->adds >= 0) {
        c.shortcut = memory + net->at[l->adds];
        c.add = net->scale[l->adds] / net->scale[i];
    }
    if (tiles<128>(&c) >= 2 * net->processors)
        conv_kernel<128><<<tiles<128>(&c), 256, shared_bytes<128>(), stream>>>(c);
    else
        conv_kernel<64><<<tiles<64>(&c), 128, shared_bytes<64>(), stream>>>(c);
    return cudaGetLastError();
}

/* ---- once, when the network is made ---------------------------------------------------------- */

/** What follows a convolution in fp32: y = relu(y + shortcut), where there is a shortcut and a
 * ReLU. The largest |y| goes to *most, if it is larger than what is there, as the bits of a float.
 * Of what is not negative, floats are in the order of their bits.
 *  @param y, shortcut [count]; blocks of 256 threads, at most 1,024 of them */
__global__ static void calibrate_kernel(float *y, unsigned *most, const float *shortcut,
                                        size_t count, bool relu)
{
    /* TODO: a grid-stride loop, the largest of a thread in a register; __reduce_max_sync over
       the warp's bits, and an atomicMax of one lane (about 11 lines). */
}

/** @return the scale of numbers of which `largest` is the largest |x|; of nothing but zeros 1 */
__host__ __device__ static float scale_for(float largest)
{
    /* TODO: as resnet18_int8.h has it (about 2 lines). */
    return {};
}

/** Weights as bytes with a scale per filter: a block of 256 threads per filter.
 *  @param q      [filters x k]: tap after tap, channel after channel, zeros behind the last
 *  @param factor [filters] in * scale of the filter / out
 *  @param shift  [filters] bias / out
 *  @param w      [filters x channels x taps], folded
 *  @param in, out scales of the tensors that the convolution reads and leaves */
__global__ static void pack_kernel(int8_t *q, float *factor, float *shift, const float *w,
                                   const float *bias, int channels, int taps, int k, float in,
                                   float out)
{
    /* TODO: the largest |w| of the filter, by an atomicMax on bits in shared memory, and its
       scale_for; then k bytes, `quantized`, in the other order; then one thread writes factor and
       shift (about 19 lines). */
}

/* What calibration has on the device. */
typedef struct calibration {
    float *params, *folded; /* [RESNET18_FLOATS] each; folded: w and beta alone */
    float *memory;          /* tensors, as lay_out has them, in NCHW; then argmax of the pooling */
    unsigned *most;         /* [TENSORS] bits of floats */
} calibration;

/* w and beta of all convolutions, with their batch normalizations folded in (309). */
static cudaError_t fold_all(const calibration *c)
{
    const float *p = c->params;
    for (int i = 0; i < RESNET18_CONVS; i++) {
        const resnet18_conv *v = &resnet18_convs[i];
        CUDA_CHECK(batchnorm_fold(c->folded + v->w, c->folded + v->beta, p + v->w, NULL,
                                  p + v->mean, p + v->var, p + v->gamma, p + v->beta,
                                  v->out_channels, v->in_channels * v->kernel * v->kernel,
                                  RESNET18_BN_EPS, 0));
    }
    return cudaSuccess;
}

/* calibrate_kernel on a tensor's y and shortcut, [count] each. */
static cudaError_t note_largest(const calibration *c, int tensor, float *y, const float *shortcut,
                                size_t count, bool relu)
{
    const size_t blocks = (count + 255) / 256;
    calibrate_kernel<<<(unsigned)(blocks < 1024 ? blocks : 1024), 256>>>(y, c->most + tensor,
                                                                         shortcut, count, relu);
    return cudaGetLastError();
}

/* Convolution i in fp32 (307), and all that follows it. at: of lay_out. */
static cudaError_t calibrate_conv(const resnet18_int8 *net, const calibration *c,
                                  const size_t at[TENSORS + 1], int i, int batch, int size)
{
    const resnet18_conv *v = &resnet18_convs[i];
    const layer *l = &net->layers[i];
    const int in = resnet18_in_size(i, size);
    const size_t side = side_of(i, size);
    float *y = c->memory + at[i];
    CUDA_CHECK(conv2d_implicit_gemm(y, c->memory + at[l->reads], c->folded + v->w,
                                    c->folded + v->beta, batch, v->in_channels, in, in,
                                    v->out_channels, v->kernel, v->kernel, v->stride, v->pad, 0));
    return note_largest(c, i, y, l->adds < 0 ? NULL : c->memory + at[l->adds],
                        side * side * batch * v->out_channels, has_relu(i));
}

/* The network in fp32 up to its last convolution: c->most[tensor] is the largest |x| so far, for
 * all tensors but POOLED. h_images: [batch x 3 x size x size], batch is at most AT_ONCE. */
static cudaError_t calibrate_images(const resnet18_int8 *net, const calibration *c,
                                    const float *h_images, int batch, int size)
{
    size_t at[TENSORS + 1];
    lay_out(at, batch, size);
    const size_t floats = (size_t)batch * 3 * size * size;
    const int side = side_of(0, size);
    float *x = c->memory + at[IMAGE];
    CUDA_CHECK(cudaMemcpy(x, h_images, floats * sizeof *x, cudaMemcpyHostToDevice));
    CUDA_CHECK(note_largest(c, IMAGE, x, NULL, floats, false));
    CUDA_CHECK(calibrate_conv(net, c, at, 0, batch, size));
    CUDA_CHECK(maxpool2d_forward(c->memory + at[POOLED], (int *)(c->memory + at[TENSORS]),
                                 c->memory + at[0], batch, channels_of(0), side, side, 3, 2, 1, 0));
    for (int i = 1; i < RESNET18_CONVS; i++)
        CUDA_CHECK(calibrate_conv(net, c, at, net->order[i], batch, size));
    return cudaSuccess;
}

/* net->scale of all tensors, by what a network in fp32 makes of all images. That of POOLED is
 * conv1's. h_images: [count x 3 x size x size] */
static cudaError_t calibrate(resnet18_int8 *net, const calibration *c, const float *h_images,
                             int count, int size)
{
    /* TODO: clear c->most, calibrate_images for AT_ONCE images at a time, the last time maybe
       fewer; then copy c->most, [TENSORS] bits of floats, and scale_for each (about 14 lines). */
    NOT_IMPLEMENTED(net, c, h_images, count, size);
    return cudaSuccess;
}

/* Memory for weights, and all of them into it. */
static cudaError_t pack(resnet18_int8 *net, const calibration *c)
{
    const size_t linear = RESNET18_FLOATS - RESNET18_FC_W;
    net->weight_bytes = net->filters + (2 * net->channels + linear) * sizeof(float);
    CUDA_CHECK(cudaMalloc((void **)&net->weights, net->weight_bytes));
    net->w = (int8_t *)net->weights;
    net->factor = (float *)(net->weights + net->filters);
    net->shift = net->factor + net->channels;
    net->linear = net->shift + net->channels;
    for (int i = 0; i < RESNET18_CONVS; i++) {
        const resnet18_conv *v = &resnet18_convs[i];
        const layer *l = &net->layers[i];
        const int taps = i == 0 ? 1 : v->kernel * v->kernel;
        pack_kernel<<<v->out_channels, 256>>>(net->w + l->w, net->factor + l->channel,
                                              net->shift + l->channel, c->folded + v->w,
                                              c->folded + v->beta, i == 0 ? WINDOW : v->in_channels,
                                              taps, l->k, net->scale[l->reads], net->scale[i]);
        CUDA_CHECK(cudaGetLastError());
    }
    return cudaMemcpy(net->linear, c->params + RESNET18_FC_W, linear * sizeof(float),
                      cudaMemcpyDeviceToDevice);
}

static cudaError_t prepare(resnet18_int8 *net, const calibration *c, const float *h_params,
                           const float *h_images, int count, int size)
{
    const size_t bytes = RESNET18_FLOATS * sizeof(float);
    CUDA_CHECK(cudaMemcpy(c->params, h_params, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(fold_all(c));
    CUDA_CHECK(calibrate(net, c, h_images, count, size));
    CUDA_CHECK(pack(net, c));
    CUDA_CHECK(allow_shared());
    return cudaDeviceSynchronize(); /* other streams need not wait for the default one */
}

/* The same, with memory that is given back whatever happens. */
static cudaError_t prepare_with_memory(resnet18_int8 *net, const float *h_params,
                                       const float *h_images, int count, int size)
{
    size_t at[TENSORS + 1];
    int device;
    lay_out(at, count < AT_ONCE ? count : AT_ONCE, size);
    const size_t argmax = at[TENSORS] - at[POOLED];
    const size_t floats = 2 * (size_t)RESNET18_FLOATS + TENSORS + at[TENSORS] + argmax;
    float *memory = NULL;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&net->processors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaMalloc((void **)&memory, floats * sizeof *memory));
    float *folded = memory + RESNET18_FLOATS, *most = folded + RESNET18_FLOATS;
    const calibration c = {memory, folded, most + TENSORS, (unsigned *)most};
    const cudaError_t error = prepare(net, &c, h_params, h_images, count, size);
    const cudaError_t freed = cudaFree(memory);
    return error != cudaSuccess ? error : freed;
}

cudaError_t resnet18_create_int8(resnet18_int8 **net, const float *h_params, const float *h_images,
                                 int count, int size)
{
    cudaError_t error = cudaErrorNotSupported;
    *net = NULL;
    /* TODO: refuse what the contract refuses, before anything else happens (about 3 lines). */
    NOT_IMPLEMENTED(net, h_params, h_images, count, size);
    resnet18_int8 *made = (resnet18_int8 *)calloc(1, sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    connect(made);
    error = prepare_with_memory(made, h_params, h_images, count, size);
    if (error == cudaSuccess)
        *net = made;
    else
        resnet18_free_int8(made);
    return error;
}

/* Memory for the tensors of a batch, and where each begins. It stays. */
static cudaError_t reserve(resnet18_int8 *net, int batch, int size)
{
    lay_out(net->at, batch, size);
    const size_t bytes = net->at[TENSORS] + (size_t)batch * RESNET18_FEATURES * sizeof(float);
    if (bytes <= net->bytes) return cudaSuccess;
    net->bytes = 0;
    CUDA_CHECK(cudaFree(net->memory)); /* waits for kernels that use it */
    net->memory = NULL;
    CUDA_CHECK(cudaMalloc((void **)&net->memory, bytes));
    net->bytes = bytes;
    return cudaSuccess;
}

/** From the images to what the first block reads. */
static cudaError_t stem(const resnet18_int8 *net, const float *x, int batch, int size,
                        cudaStream_t stream)
{
    const int side = side_of(0, size), pooled_side = side_of(POOLED, size);
    const int chunks = batch * side * side * (PATCH / 16);
    const int fours = batch * pooled_side * pooled_side * (64 / 4);
    patches_kernel<<<(chunks + 255) / 256, 256, 0, stream>>>(
        (int4 *)(net->memory + net->at[IMAGE]), x, net->scale[IMAGE], size, side, chunks);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(convolve(net, 0, batch, size, stream));
    pool_kernel<<<(fours + 255) / 256, 256, 0, stream>>>((char4 *)(net->memory + net->at[POOLED]),
                                                         (const char4 *)(net->memory + net->at[0]),
                                                         side, pooled_side, fours);
    return cudaGetLastError();
}

/** From what the last block leaves to the logits. */
static cudaError_t head(const resnet18_int8 *net, float *logits, int batch, int size,
                        cudaStream_t stream)
{
    const int last = RESNET18_CONVS - 1, side = side_of(last, size);
    const int count = batch * RESNET18_FEATURES;
    float *features = (float *)(net->memory + net->at[TENSORS]);
    mean_kernel<<<(count + 255) / 256, 256, 0, stream>>>(
        features, (const int8_t *)net->memory + net->at[last], net->scale[last], side * side,
        count);
    CUDA_CHECK(cudaGetLastError());
    return linear_forward(logits, features, net->linear,
                          net->linear + RESNET18_CLASSES * RESNET18_FEATURES, batch,
                          RESNET18_FEATURES, RESNET18_CLASSES, stream);
}

cudaError_t resnet18_forward_int8(resnet18_int8 *net, float *logits, int8_t *tensors,
                                  const float *x, int batch, int size, cudaStream_t stream)
{
    /* TODO: what the contract refuses, and a batch of 0; reserve, stem, the convolutions from 1
       on in net->order, head. If they are wanted, a copy of all that the convolutions leave: the
       first net->at[RESNET18_CONVS] bytes of net->memory (about 11 lines). */
    NOT_IMPLEMENTED(net, logits, tensors, x, batch, size, stream);
    return cudaGetLastError();
}

cudaError_t resnet18_scales_int8(const resnet18_int8 *net, float *h_scales)
{
    memcpy(h_scales, net->scale, (RESNET18_CONVS + 1) * sizeof *h_scales);
    return cudaGetLastError();
}

size_t resnet18_device_bytes_int8(const resnet18_int8 *net)
{
    return net->weight_bytes + net->bytes;
}

cudaError_t resnet18_free_int8(resnet18_int8 *net)
{
    if (net == NULL) return cudaSuccess;
    cudaFree(net->weights);
    cudaFree(net->memory);
    free(net);
    return cudaGetLastError();
}
