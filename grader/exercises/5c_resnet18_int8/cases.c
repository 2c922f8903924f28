/*
 * 5c_resnet18_int8: ResNet-18 of whole numbers: each convolution from the student's own input of
 * it, within half a step; the scales of the calibration; logits and classes beside the reference in
 * double; tensor instructions and bytes.
 */
#include "exercises/shared/resnet/resnet_cases.h"

#include <math.h>
#include <string.h>

/* Tensor 0 .. 19 is what this convolution leaves. */
enum { IMAGE = RESNET18_CONVS, POOLED, TENSORS };

/* ---- the contract in double ------------------------------------------------------------------ */

/* The filters of a convolution as they are, as bytes with a scale each, or with one for all. */
enum { FOLDED, BYTES, ONE_SCALE };

typedef struct filters {
    const resnet18_conv *c;
    float *w; /* [kernel][kernel][in_channels][out_channels] */
    double *scale, *bias;
} filters;

static double quantized(double x, double scale)
{
    return isnan(x) ? 0.0 : fmax(-127, fmin(127, nearbyint(x / scale)));
}

static double scale_for(double largest)
{
    return largest > 0.0 ? largest / 127 : 1.0;
}

static filters filters_of(const float *p, int i, int kind)
{
    const resnet18_conv *c = &resnet18_convs[i];
    const int out = c->out_channels, taps = c->kernel * c->kernel, all = c->in_channels * taps;
    const filters f = {c, f32_array((size_t)(all * out)), f64_array((size_t)out),
                       f64_array((size_t)out)};
    double of_all = 0.0, *largest = f64_array((size_t)out), *factor = f64_array((size_t)out);
    for (int o = 0; o < out; o++) {
        factor[o] = p[c->gamma + o] / sqrt(p[c->var + o] + (double)RESNET18_BN_EPS);
        f.bias[o] = p[c->beta + o] - p[c->mean + o] * factor[o];
        for (int k = 0; k < all; k++)
            largest[o] = fmax(largest[o], fabs(p[c->w + (size_t)(o * all + k)] * factor[o]));
        of_all = fmax(of_all, largest[o]);
    }
    for (int o = 0; o < out; o++) {
        f.scale[o] = kind == FOLDED ? 1.0 : scale_for(kind == BYTES ? largest[o] : of_all);
        for (int k = 0; k < all; k++) {
            const double w = p[c->w + (size_t)(o * all + k)] * factor[o];
            const int to = (k % taps * c->in_channels + k / taps) * out + o;
            f.w[to] = (float)(kind == FOLDED ? w : quantized(w, f.scale[o]));
        }
    }
    return f;
}

typedef double lanes __attribute__((vector_size(32)));
typedef float narrow __attribute__((vector_size(16)));
#define AT_A_TIME 32 /* filters, whose sums stay in registers; all have a multiple of it */

static inline __attribute__((always_inline)) void
add_tap(double *sum, const double *x, const float *w, int in_channels, int channels)
{
    for (int o = 0; o < channels; o += AT_A_TIME) {
        lanes s[AT_A_TIME / 4];
        memcpy(s, sum + o, sizeof s);
        for (int c = 0; c < in_channels; c++) {
            narrow part[AT_A_TIME / 4];
            if (x[c] == 0.0) continue;
            memcpy(part, w + (size_t)c * channels + o, sizeof part);
#pragma GCC unroll 8
            for (int l = 0; l < AT_A_TIME / 4; l++)
                s[l] += x[c] * __builtin_convertvector(part[l], lanes);
        }
        memcpy(sum + o, s, sizeof s);
    }
}

static int side_of(int tensor, int size)
{
    const resnet18_conv *c = &resnet18_convs[tensor];
    if (tensor == IMAGE) return size;
    if (tensor == POOLED) return resnet18_in_size(1, size);
    return resnet18_out_size(resnet18_in_size(tensor, size), c->kernel, c->stride, c->pad);
}

static int channels_of(int tensor)
{
    return tensor == IMAGE ? 3 : resnet18_convs[tensor == POOLED ? 0 : tensor].out_channels;
}

static size_t count_of(int tensor, int batch, int size)
{
    const size_t side = (size_t)side_of(tensor, size);
    return (size_t)batch * side * side * (size_t)channels_of(tensor);
}

/* The tensors that convolution i reads and adds; -1: none. */
static void connections(int i, int *reads, int *adds)
{
    *reads = IMAGE, *adds = -1;
    for (int b = 0, x = POOLED; b < RESNET18_BLOCKS; x = resnet18_blocks[b++].conv2) {
        const resnet18_block *block = &resnet18_blocks[b];
        if (i == block->conv1 || i == block->downsample) *reads = x;
        if (i != block->conv2) continue;
        *reads = block->conv1;
        *adds = block->downsample < 0 ? x : block->downsample;
    }
}

static double relu(int i, double x)
{
    return resnet18_convs[i].kernel == 1 ? x : fmax(x, 0.0); /* 1 x 1: of a shortcut */
}

/* The images and all tensors of a batch, NHWC, in steps of their scales. */
typedef struct state {
    int batch, size;
    double scale[TENSORS], *tensor[TENSORS];
} state;

/* What a convolution leaves of each pixel. */
typedef struct conv_job {
    const state *s;
    const filters *f;
    int i, reads, adds;
    double *x, *shortcut; /* NULL: x is finished, */
    bool quantize;        /* to a byte or not */
} conv_job;

/* sum [out_channels] is zero. */
static inline __attribute__((always_inline)) void add_taps(const conv_job *j, double *sum, int p)
{
    const resnet18_conv *c = j->f->c;
    const int in = side_of(j->reads, j->s->size), out = side_of(j->i, j->s->size);
    const int top = p / out % out * c->stride - c->pad, left = p % out * c->stride - c->pad;
    for (int tap = 0; tap < c->kernel * c->kernel; tap++) {
        const int row = top + tap / c->kernel, col = left + tap % c->kernel;
        if (row < 0 || row >= in || col < 0 || col >= in) continue;
        const size_t pixel = ((size_t)(p / out / out) * in + row) * in + col;
        add_tap(sum, j->s->tensor[j->reads] + pixel * c->in_channels,
                j->f->w + (size_t)tap * c->in_channels * c->out_channels, c->in_channels,
                c->out_channels);
    }
}

WIDE static void conv_pixels(size_t begin, size_t end, void *context)
{
    const conv_job *j = context;
    const state *s = j->s;
    const size_t channels = (size_t)j->f->c->out_channels;
    for (size_t p = begin; p < end; p++) {
        double *x = j->x + p * channels;
        add_taps(j, x, (int)p);
        for (size_t c = 0; c < channels; c++) {
            const double added =
                j->adds < 0 ? 0.0 : s->tensor[j->adds][p * channels + c] * s->scale[j->adds];
            x[c] = x[c] * s->scale[j->reads] * j->f->scale[c] + j->f->bias[c];
            if (j->shortcut)
                j->shortcut[p * channels + c] = added;
            else
                x[c] = relu(j->i, x[c] + added);
            if (j->quantize) x[c] = quantized(x[c], s->scale[j->i]);
        }
    }
}

static void convolve(conv_job job)
{
    const resnet18_conv *c = job.f->c;
    connections(job.i, &job.reads, &job.adds);
    parallel(count_of(job.i, job.s->batch, job.s->size) / (size_t)c->out_channels,
             (size_t)(c->out_channels * c->in_channels * c->kernel * c->kernel) / 2, conv_pixels,
             &job);
}

/* Numbers that convolution i leaves, from what the state says that it reads: as they are without
 * the ReLU and, apart, what the shortcut adds. x is zero. */
static void leave(double *x, double *shortcut, const state *s, const filters *f, int i)
{
    convolve((conv_job){.s = s, .f = f, .i = i, .x = x, .shortcut = shortcut});
}

static void pool_pixels(size_t begin, size_t end, void *context)
{
    const state *s = context;
    const int in = side_of(0, s->size), out = side_of(POOLED, s->size);
    for (size_t k = begin * 64; k < end * 64; k++) {
        const int c = (int)(k % 64), pixel = (int)(k / 64), place = pixel % (out * out);
        for (int tap = 0; tap < 9; tap++) {
            const int row = place / out * 2 - 1 + tap / 3, col = place % out * 2 - 1 + tap % 3;
            if (row < 0 || row >= in || col < 0 || col >= in) continue;
            const size_t from = (((size_t)(pixel / out / out) * in + row) * in + col) * 64 + c;
            s->tensor[POOLED][k] = fmax(s->tensor[POOLED][k], s->tensor[0][from]);
        }
    }
}

static void pool(state *s)
{
    const size_t count = count_of(POOLED, s->batch, s->size);
    s->scale[POOLED] = s->scale[0];
    s->tensor[POOLED] = f64_array(count);
    parallel(count / 64, 64 * 9, pool_pixels, s);
}

/* @param scale of the images' bytes; 0: they stay floats */
static state state_of(const float *x, int batch, int size, float scale)
{
    state s = {.batch = batch, .size = size};
    const size_t plane = (size_t)size * (size_t)size, count = count_of(IMAGE, batch, size);
    s.tensor[IMAGE] = f64_array(count);
    for (size_t k = 0; k < count; k++) {
        const float value = x[k / 3 / plane * 3 * plane + k % 3 * plane + k / 3 % plane];
        s.tensor[IMAGE][k] = scale == 0.0f ? value : quantized(value / scale, 1.0);
    }
    return s;
}

static double largest_of(const double *x, size_t count)
{
    double largest = 0.0;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, fabs(x[k]));
    return largest;
}

/* All tensors, from the images on. FOLDED: nothing is quantized; BYTES: as the contract says, in
 * the scales of the state. */
static void run_network(state *s, const float *params, int kind)
{
    for (int b = -1; b < RESNET18_BLOCKS; b++) {
        const resnet18_block *block = &resnet18_blocks[b < 0 ? 0 : b];
        const int order[] = {b < 0 ? 0 : block->downsample, b < 0 ? -1 : block->conv1,
                             b < 0 ? -1 : block->conv2};
        for (int j = 0; j < 3; j++) {
            const int i = order[j];
            if (i < 0) continue;
            const filters f = filters_of(params, i, kind);
            s->tensor[i] = f64_array(count_of(i, s->batch, s->size));
            convolve(
                (conv_job){.s = s, .f = &f, .i = i, .x = s->tensor[i], .quantize = kind == BYTES});
        }
        if (b < 0) pool(s);
    }
}

/* As the contract says, of a network that is not quantized. */
static void expect_scales(const float *scales, const float *params, const float *x, int count,
                          int size)
{
    state s = state_of(x, count, size, 0.0f);
    double want[TENSORS], first[TENSORS];
    for (int i = 0; i < TENSORS; i++) s.scale[i] = 1.0;
    run_network(&s, params, FOLDED);
    for (int i = 0; i <= IMAGE; i++) {
        want[i] = scale_for(largest_of(s.tensor[i], count_of(i, count, size)));
        first[i] = scale_for(largest_of(s.tensor[i], count_of(i, 1, size)));
    }
    if (count > 1) suspect("only the first image is used", first);
    expect_close((layout){"scales", RESNET18_CONVS + 1, 1}, scales, want, want, 1e-4);
}

/* ---- the student's networks, by number ------------------------------------------------------- */

/* Half a step and, where a weight lies near a tie and may go either way, what one of it is; most
 * numbers have no such weight. */
#define STEP          0.7
#define NEARLY        0.51
#define SHARE         0.01 /* of numbers that may be off by more than that */

#define INVALID_VALUE 1 /* cudaErrorInvalidValue */

static float *create(int net, const float *params, const float *x, int count, int size)
{
    float *scales = f32_array(RESNET18_CONVS + 1);
    call_cuda("resnet18_create_int8",
              ARGS(handle_out(net), host(in_f32("h_params", params, RESNET18_FLOATS)),
                   host(in_f32("h_images", x, resnet_pixels(count, size))), i32(count), i32(size)));
    call_cuda("resnet18_scales_int8",
              ARGS(handle(net), host(out_f32("h_scales", scales, RESNET18_CONVS + 1))));
    return scales;
}

static void release(int net)
{
    call_cuda("resnet18_free_int8", ARGS(handle(net)));
}

static size_t all_tensors(int batch, int size)
{
    size_t count = 0;
    for (int i = 0; i < RESNET18_CONVS; i++) count += count_of(i, batch, size);
    return count;
}

/* @param tensors or NULL */
static void forward(int net, float *logits, int8_t *tensors, const float *x, int batch, int size)
{
    call_cuda("resnet18_forward_int8",
              ARGS(handle(net), out_f32("logits", logits, (size_t)batch * RESNET18_CLASSES),
                   tensors ? out_of(ELEMENT_I8, "tensors", tensors, all_tensors(batch, size))
                           : null_pointer(),
                   in_f32("x", x, resnet_pixels(batch, size)), i32(batch), i32(size), stream()));
}

static float *logits_for(int batch)
{
    return f32_array((size_t)batch * RESNET18_CLASSES);
}

/* ---- judging --------------------------------------------------------------------------------- */

/* What it would be with usual mistakes; `x` before the addition. */
static void suspect_tensor(const state *s, const float *params, const double *x,
                           const double *shortcut, int i)
{
    const size_t count = count_of(i, s->batch, s->size);
    const double scale = s->scale[i];
    double *cut = f64_array(count), *wrapped = f64_array(count), *before = f64_array(count);
    double *one = f64_array(count), *added = f64_array(count);
    const filters f = filters_of(params, i, ONE_SCALE);
    leave(one, added, s, &f, i);
    for (size_t k = 0; k < count; k++) {
        const double y = relu(i, x[k] + shortcut[k]) / scale;
        cut[k] = trunc(fmax(-127, fmin(127, y)));
        wrapped[k] = (int8_t)(long)nearbyint(y);
        before[k] = quantized(relu(i, x[k]) + shortcut[k], scale);
        one[k] = quantized(relu(i, one[k] + added[k]), scale);
    }
    suspect("values are truncated: they should be rounded", cut);
    suspect("values beyond the ends wrap around: they should be clamped", wrapped);
    suspect("the ReLU comes before the addition", before);
    suspect("all filters of a convolution share one scale: each has its own", one);
}

static void expect_tensor(const state *s, const float *params, const float *got, int i)
{
    const size_t count = count_of(i, s->batch, s->size), channels = (size_t)channels_of(i);
    double *x = f64_array(count), *shortcut = f64_array(count), *want = f64_array(count);
    double *step = f64_array(count);
    char name[64];
    const filters f = filters_of(params, i, BYTES);
    const layout l = {name, count / channels, channels};
    snprintf(name, sizeof name, "the tensor of %s", resnet18_convs[i].name);
    leave(x, shortcut, s, &f, i);
    for (size_t k = 0; k < count; k++) {
        want[k] = fmax(-127, fmin(127, relu(i, x[k] + shortcut[k]) / s->scale[i]));
        step[k] = 1.0;
    }
    if (!is_close(l, got, want, step, STEP)) suspect_tensor(s, params, x, shortcut, i);
    expect_close(l, got, want, step, STEP);
    size_t apart = 0;
    for (size_t k = 0; k < count; k++) apart += !(fabs(got[k] - want[k]) <= NEARLY);
    expect((double)apart <= 3 + SHARE * (double)count,
           "%zu of %zu numbers of %s are a step off: sums, factors or weights are not exact", apart,
           count, name);
}

/* The mean of the last tensor. @param features [RESNET18_FEATURES] of an image */
static void features_of(double *features, const state *s, int image)
{
    const int last = RESNET18_CONVS - 1, pixels = side_of(last, s->size) * side_of(last, s->size);
    const double *x = s->tensor[last] + (size_t)image * pixels * RESNET18_FEATURES;
    memset(features, 0, RESNET18_FEATURES * sizeof *features);
    for (int k = 0; k < pixels * RESNET18_FEATURES; k++)
        features[k % RESNET18_FEATURES] += x[k] * s->scale[last] / pixels;
}

/* The linear layer of it. @param sums of the terms' sizes */
static double *head_of(const state *s, const float *params, double *sums)
{
    const float *w = params + RESNET18_FC_W, *bias = params + RESNET18_FC_BIAS;
    double *logits = f64_array((size_t)s->batch * RESNET18_CLASSES);
    for (int b = 0; b < s->batch; b++) {
        double features[RESNET18_FEATURES];
        features_of(features, s, b);
        for (int o = 0; o < RESNET18_CLASSES; o++) {
            const size_t at = (size_t)(b * RESNET18_CLASSES + o);
            logits[at] = bias[o], sums[at] = fabs(bias[o]);
            for (int k = 0; k < RESNET18_FEATURES; k++) {
                const double term = features[k] * w[o * RESNET18_FEATURES + k];
                logits[at] += term, sums[at] += fabs(term);
            }
        }
    }
    return logits;
}

/* From the student's own last tensor. */
static void expect_head(const state *s, const float *params, const float *logits)
{
    double *sums = f64_array((size_t)s->batch * RESNET18_CLASSES);
    const double *want = head_of(s, params, sums);
    expect_close((layout){"logits", (size_t)s->batch, RESNET18_CLASSES}, logits, want, sums, 4e-6);
}

/* Every tensor, from those that the student's convolution has read. */
static void expect_forward(int net, const float *scales, const float *params, const float *x,
                           int batch, int size)
{
    float *logits = logits_for(batch);
    int8_t *tensors = array_of(ELEMENT_I8, all_tensors(batch, size));
    forward(net, logits, tensors, x, batch, size);
    state s = state_of(x, batch, size, scales[IMAGE]);
    for (int i = 0; i <= IMAGE; i++) s.scale[i] = scales[i];
    size_t at = 0;
    const float *got[RESNET18_CONVS];
    for (int i = 0; i < RESNET18_CONVS; at += count_of(i++, batch, size)) {
        const size_t count = count_of(i, batch, size);
        got[i] = f32_of(ELEMENT_I8, tensors + at, count);
        s.tensor[i] = f64_array(count);
        for (size_t k = 0; k < count; k++) s.tensor[i][k] = got[i][k];
    }
    pool(&s);
    for (int i = 0; i < RESNET18_CONVS; i++) expect_tensor(&s, params, got[i], i);
    expect_head(&s, params, logits);
}

/* ---- the cases ------------------------------------------------------------------------------- */

/* Bytes where there were floats. */
static void expect_bytes(size_t tensors)
{
    const double said = (double)call_returning_u64("resnet18_device_bytes_int8", ARGS(handle(0)));
    const double most = 1.3 * RESNET18_PARAMS + 2.5 * (double)tensors;
    expect(said >= RESNET18_PARAMS + (double)tensors && said <= most,
           "a network says that it holds %.0f bytes of device memory, for %d weights and %zu "
           "numbers: should be at most %.0f",
           said, RESNET18_PARAMS, tensors, most);
}

static void expect_refused(int batch, int size)
{
    call_refused(INVALID_VALUE, "resnet18_forward_int8",
                 ARGS(handle(0), out_f32("logits", logits_for(1), RESNET18_CLASSES), null_pointer(),
                      in_f32("x", f32_array(resnet_pixels(1, 32)), resnet_pixels(1, 32)),
                      i32(batch), i32(size), stream()));
}

/* shape: images to calibrate with, their size; batch, size, and so on of one network */
static void tensor_by_tensor(const long *shape)
{
    const float *params = resnet_params(), *x = resnet_images((int)shape[0], (int)shape[1]);
    const float *scales = create(0, params, x, (int)shape[0], (int)shape[1]);
    size_t most = 0;
    expect_refused(0, 31);
    expect_refused(-1, 32);
    expect_bytes(0);
    for (int i = 2; i + 1 < SHAPE_MAX && shape[i + 1] > 0; i += 2) {
        const int batch = (int)shape[i], size = (int)shape[i + 1];
        float nothing;
        if (batch == 0)
            forward(0, &nothing, NULL, &nothing, 0, size);
        else
            expect_forward(0, scales, params, resnet_images(batch, size), batch, size);
        if (all_tensors(batch, size) > most) most = all_tensors(batch, size);
        expect_bytes(most);
    }
    release(0);
}

/* In batches of 8: each image has larger numbers than the one before, but the last, which has the
 * largest of all in a corner. shape: images, size */
static void calibration(const long *shape)
{
    const int count = (int)shape[0], size = (int)shape[1];
    const size_t image = resnet_pixels(1, size), last = resnet_pixels(count, size) - 1;
    float *x = resnet_images(count, size), largest = 0.0f;
    for (size_t k = 0; k <= last - image; k++) {
        x[k] *= 1.0f + 0.5f * (float)(k / image);
        largest = fmaxf(largest, fabsf(x[k]));
    }
    x[last] = 1.2f * largest;
    const float *scales = create(0, resnet_params(), x, count, size);
    expect_scales(scales, resnet_params(), x, count, size);
    release(0);
}

/* Images of nothing but halves, in a scale that is 1. shape: size */
static void halves(const long *shape)
{
    const int size = (int)shape[0];
    const size_t count = resnet_pixels(1, size);
    const int *whole = random_i32(count, -127, 127);
    float *x = f32_array(count);
    for (size_t k = 0; k < count; k++) x[k] = (float)whole[k] + 0.5f;
    x[0] = 127.0f;
    const float *scales = create(0, resnet_params(), x, 1, size);
    expect(scales[IMAGE] == 1.0f, "images up to 127 have the scale %.9g, should be 1",
           scales[IMAGE]);
    expect_forward(0, scales, resnet_params(), x, 1, size);
    release(0);
}

/* Images with much larger numbers than the network was made for, infinities, and NaN, which is a 0
 * among whole numbers. shape: batch, size */
static void beyond_the_ends(const long *shape)
{
    const int batch = (int)shape[0], size = (int)shape[1];
    const float *scales = create(0, resnet_params(), resnet_images(1, size), 1, size);
    float *x = resnet_images(batch, size);
    for (size_t k = 0; k < resnet_pixels(batch, size); k++) x[k] *= 6.0f;
    sprinkle_f32(x, resnet_pixels(batch, size), INFINITY, 3);
    sprinkle_f32(x, resnet_pixels(batch, size), -INFINITY, 3);
    sprinkle_f32(x, resnet_pixels(batch, size), NAN, 9);
    expect_forward(0, scales, resnet_params(), x, batch, size);
    release(0);
}

/* Other weights and other calibration; of the second, filters of nothing but zeros, and black
 * images. shape: size */
static void two_networks(const long *shape)
{
    const int size = (int)shape[0];
    float *others = f32_array(RESNET18_FLOATS), *black = f32_array(resnet_pixels(1, 32));
    memcpy(others, resnet_params(), RESNET18_FLOATS * sizeof *others);
    for (int i = 0; i < RESNET18_CONVS; i++) others[resnet18_convs[i].gamma + 5] = 0.0f;
    const float *first = create(0, resnet_params(), resnet_images(1, size), 1, size);
    const float *second = create(1, others, black, 1, 32);
    expect(second[IMAGE] == 1.0f, "black images have the scale %.9g, should be 1", second[IMAGE]);
    expect_forward(0, first, resnet_params(), resnet_images(1, size), 1, size);
    release(0);
    expect_forward(1, second, others, resnet_images(1, 32), 1, 32);
    release(1);
}

#define MANY 17 /* images to be refused: more than calibration takes at once */

static void refused_create(float *x, int count, int size)
{
    call_refused(INVALID_VALUE, "resnet18_create_int8",
                 ARGS(handle_out(0), host(in_f32("h_params", resnet_params(), RESNET18_FLOATS)),
                      host(in_f32("h_images", x, resnet_pixels(MANY, 32))), i32(count),
                      i32(size)));
}

static void refused(const long *shape)
{
    (void)shape;
    float *x = resnet_images(MANY, 32), *last = x + resnet_pixels(MANY, 32) - 1;
    refused_create(x, 0, 32);
    refused_create(x, 1, 31);
    *last = NAN;
    refused_create(x, MANY, 32);
    *last = -INFINITY;
    refused_create(x, MANY, 32);
}

/* How far logits may be from those of the network in double: the root mean square of the
 * difference, of that of the logits. */
#define OFF 0.1

static double distance(const float *got, const double *want, size_t count)
{
    double difference = 0.0, norm = 0.0;
    for (size_t i = 0; i < count; i++)
        difference += (got[i] - want[i]) * (got[i] - want[i]), norm += want[i] * want[i];
    return sqrt(difference / norm);
}

/* The whole network of the contract, from the images on, with the student's scales. */
static resnet_reference of_bytes(const float *scales, const float *x, int batch, int size)
{
    state s = state_of(x, batch, size, scales[IMAGE]);
    for (int i = 0; i <= IMAGE; i++) s.scale[i] = scales[i];
    run_network(&s, resnet_params(), BYTES);
    double *sums = f64_array((size_t)batch * RESNET18_CLASSES);
    return (resnet_reference){.batch = batch, .logits = head_of(&s, resnet_params(), sums)};
}

/* The same images in every grading. An image has its class where the contract's own logit of it is
 * the largest, or off that by no more than logits may be. Of weights that are random, bytes move
 * some images to another class than the network in double has: how many is said, not judged.
 * shape: images, size, batch, images to calibrate with, which are others */
static void classes(const long *shape)
{
    const int images = (int)shape[0], size = (int)shape[1], count = (int)shape[3];
    const float *x = resnet_fixed_images(count + images, size);
    double most = 0.0;
    int others = 0, moved = 0;
    const float *scales = create(0, resnet_params(), x, count, size);
    for (int first = 0; first < images; first += (int)shape[2]) {
        const int batch = (int)fmin((double)shape[2], images - first);
        const float *here = x + resnet_pixels(count + first, size);
        const resnet_reference r = reference_resnet18(resnet_params(), here, batch, size, false);
        const resnet_reference bytes = of_bytes(scales, here, batch, size);
        float *logits = logits_for(batch);
        forward(0, logits, NULL, here, batch, size);
        most = fmax(most, distance(logits, r.logits, (size_t)batch * RESNET18_CLASSES));
        others += resnet_other_classes(&bytes, logits, OFF);
        moved += resnet_other_classes(&r, logits, 0.0);
    }
    release(0);
    expect(most <= OFF, "logits are off by %.2g of their root mean square, should be at most %.2g",
           most, OFF);
    expect(others <= images / 50, "%d of %d images get a class other than the contract's", others,
           images);
    note("%d of %d images of %d x %d get the largest class of the network in double; logits are "
         "off by %.2g",
         images - moved, images, size, size, most);
}

#define AT_ONCE 32 /* images, whose tensors are kept */

/* In double and without bytes: the features [images x RESNET18_FEATURES] less their mean, which is
 * kept. */
static double *differences(double *mean, const float *x, int images, int size)
{
    double *features = f64_array((size_t)(images * RESNET18_FEATURES));
    for (int first = 0; first < images; first += AT_ONCE) {
        const int batch = images - first < AT_ONCE ? images - first : AT_ONCE;
        state s = state_of(x + resnet_pixels(first, size), batch, size, 0.0f);
        for (int t = 0; t < TENSORS; t++) s.scale[t] = 1.0;
        run_network(&s, resnet_params(), FOLDED);
        for (int i = 0; i < batch; i++)
            features_of(features + (first + i) * RESNET18_FEATURES, &s, i);
    }
    for (int k = 0; k < images * RESNET18_FEATURES; k++)
        mean[k % RESNET18_FEATURES] += features[k] / images;
    for (int k = 0; k < images * RESNET18_FEATURES; k++) features[k] -= mean[k % RESNET18_FEATURES];
    return features;
}

/* A linear layer that knows the images: the row of a class is, at length 1, how one of them differs
 * from the mean. So image i is of class i by a margin, as after a training. */
static const float *params_that_know(const float *x, int images, int size)
{
    double mean[RESNET18_FEATURES] = {0.0}, *differs = differences(mean, x, images, size);
    float *params = f32_array(RESNET18_FLOATS), *w = params + RESNET18_FC_W;
    float *bias = params + RESNET18_FC_BIAS;
    memcpy(params, resnet_params(), RESNET18_FLOATS * sizeof *params);
    memset(w, 0, (size_t)RESNET18_CLASSES * RESNET18_FEATURES * sizeof *w);
    for (int i = 0; i < RESNET18_CLASSES; i++) bias[i] = -1e6f;
    for (int i = 0; i < images; i++, differs += RESNET18_FEATURES, w += RESNET18_FEATURES) {
        double squares = 0.0, shift = 0.0;
        for (int k = 0; k < RESNET18_FEATURES; k++) squares += differs[k] * differs[k];
        for (int k = 0; k < RESNET18_FEATURES; k++) {
            w[k] = (float)(differs[k] / sqrt(squares));
            shift += w[k] * mean[k];
        }
        bias[i] = (float)-shift;
    }
    return params;
}

/* shape: images, size, of which so many calibrate */
static void known_classes(const long *shape)
{
    const int images = (int)shape[0], size = (int)shape[1], count = (int)shape[2];
    const float *x = resnet_fixed_images(images, size);
    float *logits = logits_for(images);
    int right = 0;
    create(0, params_that_know(x, images, size), x, count, size);
    forward(0, logits, NULL, x, images, size);
    release(0);
    for (int i = 0; i < images; i++) {
        const float *row = logits + i * RESNET18_CLASSES;
        int largest = 0;
        for (int o = 1; o < RESNET18_CLASSES; o++)
            if (row[o] > row[largest]) largest = o;
        right += largest == i;
    }
    expect(right >= 0.98 * images,
           "%d of %d images that the linear layer knows get the right class, should be 98 %%",
           right, images);
    note("%d of %d images of %d x %d that the linear layer knows get the right class", right,
         images, size, size);
}

static const grading_case cases[] = {
    {.name = "1x32", .run = tensor_by_tensor, .shape = {1, 32, 1, 32}, .once = true},
    {.name = "other batches and sizes",
     .run = tensor_by_tensor,
     .shape = {1, 32, 3, 32, 0, 40, 2, 47},
     .once = true},
    {.name = "calibration, 9x49", .run = calibration, .shape = {9, 49}, .once = true},
    {.name = "beyond the ends, 1x33", .run = beyond_the_ends, .shape = {1, 33}, .once = true},
    {.name = "halves, 1x32", .run = halves, .shape = {32}, .once = true},
    {.name = "two networks", .run = two_networks, .shape = {33}, .once = true},
    {.name = "refused", .run = refused, .once = true},
    {.name = "classes of 32 images of 32x32",
     .run = classes,
     .shape = {32, 32, 32, 8},
     .where = ON_SOFTGPU,
     .once = true,
     .seconds = 60},
    {.name = "1x224, 3x225",
     .run = tensor_by_tensor,
     .shape = {1, 64, 1, 224, 3, 225},
     .where = ON_GPU,
     .once = true,
     .seconds = 60},
    {.name = "classes of 128 images of 224x224",
     .run = classes,
     .shape = {128, 224, 64, 64},
     .where = ON_GPU,
     .once = true,
     .seconds = 60},
    {.name = "50 known images of 32x32",
     .run = known_classes,
     .shape = {50, 32, 8},
     .once = true,
     .seconds = 60},
    {.name = "100 known images of 224x224",
     .run = known_classes,
     .shape = {100, 224, 64},
     .where = ON_GPU,
     .once = true,
     .seconds = 60},
    {0},
};

/* ---- what it costs --------------------------------------------------------------------------- */

#define COUNTED 2   /* no other case has this network */
#define OFF_ONE 0.3 /* of the logits of a single image */

/* The baseline of 505 has a network in each call. shape: batch, size */
static void run_counted(const char *function, const long *shape)
{
    const int batch = (int)shape[0], size = (int)shape[1];
    const float *x = resnet_images(batch, size);
    float *logits = logits_for(batch);
    argument images = in_f32("x", x, resnet_pixels(batch, size));
    argument rows = out_f32("logits", logits, (size_t)batch * RESNET18_CLASSES);
    if (strncmp(function, "baseline_", 9) == 0) {
        call_cuda(function, ARGS(rows, in_f32("params", resnet_params(), RESNET18_FLOATS), images,
                                 i32(batch), i32(size), stream()));
        return;
    }
    call_aside("resnet18_free_int8", ARGS(handle(COUNTED))); /* NULL at first */
    call_aside("resnet18_create_int8",
               ARGS(handle_out(COUNTED), host(in_f32("h_params", resnet_params(), RESNET18_FLOATS)),
                    host(in_f32("h_images", x, resnet_pixels(batch, size))), i32(batch),
                    i32(size)));
    argument forward[] = {handle(COUNTED), rows,      null_pointer(), images,
                          i32(batch),      i32(size), stream()};
    if (call_is_timed()) call_aside(function, forward, 7); /* which allocates */
    call_cuda(function, forward, 7);
    const size_t one = (size_t)random_below(case_random(), (uint64_t)batch);
    const resnet_reference r =
        reference_resnet18(resnet_params(), x + one * resnet_pixels(1, size), 1, size, false);
    const double off = distance(logits + one * RESNET18_CLASSES, r.logits, RESNET18_CLASSES);
    expect(off <= OFF_ONE, "logits[%zu] are off by %.2g of their root mean square", one, off);
}

#define FLOP_OF_AN_IMAGE 3.64e9 /* of 224 x 224 */

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one thread per output in fp32",
                .shape = "32 images of 224 × 224"},
     .function = "resnet18_forward_int8",
     .baseline = "baseline_resnet18_direct",
     .run = run_counted,
     .shape = {32, 224},
     .varied = 0,
     .where = ON_GPU,
     .threshold = 28.0,
     .flop = 32 * FLOP_OF_AN_IMAGE,
     .precision = IN_INT8,
     .peer_share = 0.041},
    {0},
};

/* Of 16 pixels, 8 filters and 32 bytes of k, layer by layer, for 4 images of 32 x 32. */
#define PRODUCTS (2560.0 + 9216.0 + 8192.0 + 8192.0 + 32768.0)

static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = "16 × 8 × 32 product",
                .shape = "4 images of 32 × 32"},
     .function = "resnet18_forward_int8",
     .run = run_counted,
     .shape = {4, 32},
     .count = tensor_instructions,
     .ideal = PRODUCTS,
     .bound = AT_LEAST,
     .multiplications = PRODUCTS * 4096,
     .wanted = 1},
    {.metric = {"DRAM bytes", .relative_to = "one byte per weight", .shape = "4 images of 32 × 32"},
     .function = "resnet18_forward_int8",
     .run = run_counted,
     .shape = {4, 32},
     .count = moved_bytes,
     .ideal = RESNET18_PARAMS,
     .bound = AT_MOST,
     .wanted = 2},
    {0},
};

EXERCISE(5c) = {
    .id = CHALLENGE(5, 'c'),
    .name = "resnet18_int8",
    .file = "phase5_full_network/5c_resnet18_int8/5c_resnet18_int8.cu",
    .functions = {"resnet18_create_int8", "resnet18_forward_int8", "resnet18_scales_int8",
                  "resnet18_device_bytes_int8", "resnet18_free_int8"},
    .prerequisites = {303, 307, 309, 310},
    .own_prerequisites = true,
    .baseline_file = "grader/exercises/505_resnet18/baseline.cu",
    .points = 30,
    .speed_points = 10,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
