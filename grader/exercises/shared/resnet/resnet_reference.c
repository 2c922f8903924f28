/* resnet_reference.c: ResNet-18's forward pass in double, as it is defined, and as students may get
 * it wrong. */
#include "resnet_cases.h"

#include <math.h>
#include <string.h>

/* ---- a convolution in double, and its batch normalization ------------------------------------ */

#define PIXELS 8   /* of a tile of outputs */
#define TAPS   256 /* of a step: columns [TAPS x PIXELS] stay in the cache next to the core */
#define ROWS   4   /* filters at once, whose sums stay in 8 of the 16 registers of AVX2 */

typedef double lanes __attribute__((vector_size(32)));
#define LANES (PIXELS / 4)

typedef struct conv_job {
    const resnet18_conv *conv;
    const float *params;
    const double *x;
    double *y;
    int batch, in, out; /* pixels a side */
    resnet_mistake mistake;
    bool no_norm;
} conv_job;

/* sum[ROWS x PIXELS] += w[ROWS x taps, rows `stride` apart] * columns[taps x PIXELS] */
WIDE static void multiply(lanes *sum, const float *w, size_t stride, const lanes *columns, int taps)
{
    lanes s[ROWS][LANES];
    memcpy(s, sum, sizeof s);
    for (int t = 0; t < taps; t++) {
#pragma GCC unroll 4 /* so that the sums stay in registers */
        for (int r = 0; r < ROWS; r++) {
            const double factor = w[(size_t)r * stride + (size_t)t];
#pragma GCC unroll 2
            for (int l = 0; l < LANES; l++) s[r][l] += factor * columns[t * LANES + l];
        }
    }
    memcpy(sum, s, sizeof s);
}

/* Elements `first` .. first + taps - 1 of the windows of PIXELS outputs from number `pixel` on. */
static void fill_columns(double *columns, const conv_job *j, int pixel, int first, int taps)
{
    const resnet18_conv *c = j->conv;
    const int plane = j->out * j->out, all = j->batch * plane, window = c->kernel * c->kernel;
    for (int p = 0; p < PIXELS; p++) {
        const int at = pixel + p < all ? pixel + p : all - 1, place = at % plane;
        const double *image = j->x + (size_t)(at / plane) * c->in_channels * j->in * j->in;
        const int top = place / j->out * c->stride - c->pad;
        const int left = place % j->out * c->stride - c->pad;
        int channel = first / window, r = first % window / c->kernel, s = first % c->kernel;
        for (int t = 0; t < taps; t++) {
            const int row = top + r, col = left + s;
            const bool inside = row >= 0 && row < j->in && col >= 0 && col < j->in;
            columns[t * PIXELS + p] =
                inside ? image[((size_t)channel * j->in + row) * j->in + col] : 0.0;
            if (++s == c->kernel) s = 0, r++;
            if (r == c->kernel) r = 0, channel++;
        }
    }
}

static double eps_of(resnet_mistake m)
{
    return m == RESNET_NO_EPS ? 0.0 : m == RESNET_OTHER_EPS ? 1e-3 : RESNET18_BN_EPS;
}

typedef struct norm {
    double factor, shift;
} norm;

/* Of one filter. */
static norm norm_of(const conv_job *j, int f)
{
    const resnet18_conv *c = j->conv;
    const float *p = j->params;
    const double var = p[c->var + f] + eps_of(j->mistake), mean = p[c->mean + f];
    const double factor = p[c->gamma + f] / (j->mistake == RESNET_NO_ROOT ? var : sqrt(var));
    const double scaled = j->mistake == RESNET_MEAN_LEFT       ? 0.0
                          : j->mistake == RESNET_MEAN_UNSCALED ? mean
                                                               : factor * mean;
    return j->no_norm ? (norm){1.0, 0.0} : (norm){factor, p[c->beta + f] - scaled};
}

/* One tile of outputs, all filters: sums to y, normalized. */
static void store_tile(const conv_job *j, const double *sum, int pixel)
{
    const resnet18_conv *c = j->conv;
    const int plane = j->out * j->out, all = j->batch * plane;
    for (int f = 0; f < c->out_channels; f++) {
        const norm n = norm_of(j, f);
        for (int i = 0; i < PIXELS && pixel + i < all; i++) {
            const size_t image = (size_t)((pixel + i) / plane);
            const size_t at = (image * c->out_channels + f) * plane + (pixel + i) % plane;
            j->y[at] = sum[f * PIXELS + i] * n.factor + n.shift;
        }
    }
}

static void conv_tiles(size_t begin, size_t end, void *context)
{
    const conv_job *j = context;
    const resnet18_conv *c = j->conv;
    const int taps = c->in_channels * c->kernel * c->kernel;
    lanes sum[512 * LANES], columns[TAPS * LANES]; /* of at most 512 filters */
    for (size_t tile = begin; tile < end; tile++) {
        memset(sum, 0, sizeof sum);
        for (int first = 0; first < taps; first += TAPS) {
            const int step = taps - first < TAPS ? taps - first : TAPS;
            fill_columns((double *)columns, j, (int)tile * PIXELS, first, step);
            for (int f = 0; f < c->out_channels; f += ROWS) {
                const float *w = j->params + c->w + (size_t)f * taps + first;
                multiply(&sum[f * LANES], w, (size_t)taps, columns, step);
            }
        }
        store_tile(j, (double *)sum, (int)tile * PIXELS);
    }
}

/* ---- the network ----------------------------------------------------------------------------- */

/* Memory for a stage of `batch` images at once. */
typedef struct scratch {
    double *stem, *middle, *shortcut;
} scratch;

size_t resnet_stage_floats(int stage, int size)
{
    int channels, side;
    resnet18_stage_shape(stage, size, &channels, &side);
    return (size_t)channels * side * side;
}

/* y [batch x out_channels x out x out] = bn(conv(x)) */
static void conv_bn(double *y, const double *x, const float *params, int number, int batch,
                    int size, resnet_mistake m, bool no_norm)
{
    const resnet18_conv *c = &resnet18_convs[number];
    const int in = resnet18_in_size(number, size);
    const int out = resnet18_out_size(in, c->kernel, c->stride, c->pad);
    conv_job job = {c, params, x, y, batch, in, out, m, no_norm};
    const size_t tiles = ((size_t)batch * out * out + PIXELS - 1) / PIXELS;
    const size_t cost =
        (size_t)c->out_channels * c->in_channels * c->kernel * c->kernel * PIXELS / 4;
    parallel(tiles, cost, conv_tiles, &job);
}

static void relu_part(size_t begin, size_t end, void *context)
{
    double *x = context;
    for (size_t i = begin; i < end; i++) x[i] = x[i] < 0.0 ? 0.0 : x[i]; /* NaN stays */
}

static void relu(double *x, size_t count)
{
    parallel(count, 1, relu_part, x);
}

typedef struct sum_job {
    double *y;
    const double *x;
} sum_job;

static void add_part(size_t begin, size_t end, void *context)
{
    const sum_job *j = context;
    for (size_t i = begin; i < end; i++) j->y[i] += j->x[i];
}

/* @param row, col the middle of the window */
static double largest_of_window(const double *plane, int side, int row, int col)
{
    double largest = -INFINITY;
    for (int r = row - 1; r <= row + 1; r++) {
        for (int c = col - 1; c <= col + 1; c++) {
            const bool inside = r >= 0 && r < side && c >= 0 && c < side;
            if (inside && !(plane[r * side + c] <= largest)) largest = plane[r * side + c];
        }
    }
    return largest;
}

typedef struct pool_job {
    double *y;
    const double *x;
    int side, out, by;
} pool_job;

static void pool_planes(size_t begin, size_t end, void *context)
{
    const pool_job *j = context;
    for (size_t p = begin; p < end; p++) {
        const double *plane = j->x + p * j->side * j->side;
        for (int i = 0; i < j->out * j->out; i++) {
            j->y[p * j->out * j->out + i] =
                largest_of_window(plane, j->side, i / j->out * 2 + j->by, i % j->out * 2 + j->by);
        }
    }
}

static void maxpool(double *y, const double *x, size_t planes, int side, int out, resnet_mistake m)
{
    pool_job job = {y, x, side, out, m == RESNET_WINDOW_SHIFTED};
    parallel(planes, (size_t)out * out * 9, pool_planes, &job);
}

static void stem(double *y, const double *x, const float *params, int batch, int size,
                 const scratch *s, resnet_mistake m)
{
    const int channels = resnet18_convs[0].out_channels, side = resnet18_out_size(size, 7, 2, 3);
    const int out = resnet18_out_size(side, 3, 2, 1);
    conv_bn(s->stem, x, params, 0, batch, size, m, m == RESNET_SECOND_NOT_NORMALIZED);
    if (m != RESNET_NO_LAST_RELU) relu(s->stem, (size_t)batch * channels * side * side);
    maxpool(y, s->stem, (size_t)batch * channels, side, out, m);
}

/* Stage number + 1 from stage `number`. */
static void block(double *y, const double *x, const float *params, int number, int batch, int size,
                  const scratch *s, resnet_mistake m)
{
    const resnet18_block *b = &resnet18_blocks[number];
    const size_t count = (size_t)batch * resnet_stage_floats(number + 1, size);
    const double *shortcut = x;
    conv_bn(s->middle, x, params, b->conv1, batch, size, m, false);
    if (m != RESNET_NO_RELU_BETWEEN) relu(s->middle, count);
    const int second = m == RESNET_FIRST_TWICE && b->downsample < 0 ? b->conv1 : b->conv2;
    conv_bn(y, s->middle, params, second, batch, size, m, m == RESNET_SECOND_NOT_NORMALIZED);
    if (b->downsample >= 0) {
        shortcut = s->shortcut;
        conv_bn(s->shortcut, x, params, b->downsample, batch, size, m,
                m == RESNET_SHORTCUT_NOT_NORMALIZED);
    }
    if (m == RESNET_RELU_BEFORE_ADD) relu(y, count);
    if (m != RESNET_NO_SHORTCUT) parallel(count, 1, add_part, &(sum_job){y, shortcut});
    if (m != RESNET_NO_LAST_RELU && m != RESNET_RELU_BEFORE_ADD) relu(y, count);
}

static void average(double *features, const double *x, int batch, int side)
{
    for (int plane = 0; plane < batch * RESNET18_FEATURES; plane++) {
        double sum = 0.0;
        for (int i = 0; i < side * side; i++) sum += x[(size_t)plane * side * side + i];
        features[plane] = sum / (side * side);
    }
}

typedef struct linear_job {
    double *logits;
    const double *features;
    const float *params;
} linear_job;

static void linear_part(size_t begin, size_t end, void *context)
{
    const linear_job *j = context;
    const float *w = j->params + RESNET18_FC_W, *bias = j->params + RESNET18_FC_BIAS;
    for (size_t i = begin; i < end; i++) {
        const size_t class = i % RESNET18_CLASSES;
        const double *x = j->features + i / RESNET18_CLASSES * RESNET18_FEATURES;
        j->logits[i] = bias[class];
        for (int f = 0; f < RESNET18_FEATURES; f++) {
            j->logits[i] += (double)w[class * RESNET18_FEATURES + f] * x[f];
        }
    }
}

static void linear(double *logits, const double *features, const float *params, int batch)
{
    parallel((size_t)batch * RESNET18_CLASSES, RESNET18_FEATURES, linear_part,
             &(linear_job){logits, features, params});
}

/* One stage from the one before; x: the images where it is 0. */
static void make_stage(double *y, const double *x, const float *params, int stage, int batch,
                       int size, const scratch *s, resnet_mistake m)
{
    int channels, side;
    resnet18_stage_shape(stage - 1, size, &channels, &side);
    if (stage == 0)
        stem(y, x, params, batch, size, s, m);
    else if (stage <= RESNET18_BLOCKS)
        block(y, x, params, stage - 1, batch, size, s, m);
    else
        average(y, x, batch, side);
}

static scratch scratch_for(int batch, int size)
{
    const size_t side = (size_t)resnet18_out_size(size, 7, 2, 3);
    const size_t stage = (size_t)batch * resnet_stage_floats(0, size); /* the largest */
    return (scratch){f64_array((size_t)batch * resnet18_convs[0].out_channels * side * side),
                     f64_array(stage), f64_array(stage)};
}

/* ---- all of it ------------------------------------------------------------------------------- */

double resnet_pixels_at_once = 8.0 * 224 * 224; /* they bring the output of conv1 to 50 MB */

/* Where a stage of the images from `first` on begins. @param batch of the whole array */
static size_t stage_at(int stage, int batch, int first, int size)
{
    size_t at = (size_t)first * resnet_stage_floats(stage, size);
    for (int s = 0; s < stage; s++) at += (size_t)batch * resnet_stage_floats(s, size);
    return at;
}

static double *widened(double *y, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) y[i] = x[i];
    return y;
}

resnet_reference reference_resnet18(const float *params, const float *x, int batch, int size,
                                    bool stages)
{
    const int most = (int)fmax(1.0, resnet_pixels_at_once / size / size);
    const int part = batch < most ? batch : most;
    const size_t image = (size_t)3 * size * size, all = resnet18_activations(size);
    const scratch s = scratch_for(part, size);
    double *kept = f64_array((size_t)(stages ? batch : part) * all);
    double *images = f64_array((size_t)part * image);
    resnet_reference r = {.params = params, .x = x, .batch = batch, .size = size};
    r.logits = f64_array((size_t)batch * RESNET18_CLASSES);
    r.activations = stages ? kept : NULL;
    for (int first = 0; first < batch; first += part) {
        const int n = batch - first < part ? batch - first : part;
        const double *before = widened(images, x + (size_t)first * image, (size_t)n * image);
        for (int stage = 0; stage < RESNET18_STAGES; stage++) {
            double *y = kept + stage_at(stage, stages ? batch : part, stages ? first : 0, size);
            make_stage(y, before, params, stage, n, size, &s, RESNET_NO_MISTAKE);
            before = y;
        }
        linear(r.logits + (size_t)first * RESNET18_CLASSES, before, params, n);
    }
    return r;
}

const double *resnet_stage(const resnet_reference *r, int stage, int image)
{
    return r->activations + stage_at(stage, r->batch, image, r->size);
}

double *resnet_stage_with(const resnet_reference *r, int stage, int image, resnet_mistake m)
{
    const size_t pixels = (size_t)3 * r->size * r->size;
    const scratch s = scratch_for(1, r->size);
    double *y = f64_array(resnet_stage_floats(stage, r->size)), *x = f64_array(pixels);
    const double *before = stage == 0 ? widened(x, r->x + (size_t)image * pixels, pixels)
                                      : resnet_stage(r, stage - 1, image);
    make_stage(y, before, r->params, stage, 1, r->size, &s, m);
    return y;
}
