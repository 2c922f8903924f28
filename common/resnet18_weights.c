/* resnet18_weights.c: weights and images from a seed, and the file of the weights.
 *
 * A running mean and variance cannot be drawn alone: a channel whose mean is far off passes on the
 * same large number for every image. So moments are followed through the network, channel by
 * channel, with the weights drawn already: of a sum of independent terms, of a normal number after
 * ReLU, of the largest of nine. */
#include "resnet18_weights.h"

#include "random.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ------------------------------------------------------------------------------ */

/** What is known of the planes between two layers: mean and variance of each. */
typedef struct moments {
    double mean[RESNET18_FEATURES], var[RESNET18_FEATURES];
} moments;

/* Of x >= 0 ? x : 0, where x is normal. */
static void after_relu(moments *m, int channels)
{
    for (int c = 0; c < channels; c++) {
        const double mean = m->mean[c], deviation = sqrt(m->var[c]), z = mean / deviation;
        const double below = 0.5 * erfc(-z / sqrt(2.0)), density = exp(-z * z / 2) * 0.3989422804;
        const double first = mean * below + deviation * density;
        const double second = (mean * mean + m->var[c]) * below + mean * deviation * density;
        m->mean[c] = first;
        m->var[c] = second - first * first;
    }
}

/* Of the largest of 9 neighbours, which are much alike. */
static void after_maxpool(moments *m, int channels)
{
    for (int c = 0; c < channels; c++) m->mean[c] += 1.1 * sqrt(m->var[c]);
}

/* One filter in so many has a variance so small that the epsilon of its normalization shows, as
 * some filters of trained networks have. */
#define QUIET       8
#define QUIET_SCALE 0.02f

/* Fill in everything of one convolution and its batch normalization. @param m of what it reads;
 * receives what the normalization gives. @param gain the largest gamma; the smallest is half of it
 */
static void random_conv(float *params, const resnet18_conv *c, moments *m, double gain,
                        random_state *rng)
{
    const int window = c->kernel * c->kernel, terms = c->in_channels * window;
    const float bound = sqrtf(6.0f / (float)terms); /* of uniform numbers with variance 2 / terms */
    random_fill_uniform(rng, params + c->w, (size_t)c->out_channels * terms, -bound, bound);

    moments out;
    float *w = params + c->w;
    for (int o = 0; o < c->out_channels; o++, w += terms) {
        const float scale = random_below(rng, QUIET) == 0 ? QUIET_SCALE : 1.0f;
        double mean = 0.0, var = 0.0;
        for (int i = 0; i < terms; i++) {
            w[i] *= scale;
            mean += w[i] * m->mean[i / window];
            var += w[i] * w[i] * m->var[i / window];
        }
        params[c->mean + o] = (float)mean + 0.1f * (float)sqrt(var) * random_normal(rng);
        params[c->var + o] = (float)var * random_uniform(rng, 0.7f, 1.4f);
        params[c->gamma + o] = (float)gain * random_uniform(rng, 0.5f, 1.0f);
        params[c->beta + o] = 0.2f * random_normal(rng);

        const double factor = params[c->gamma + o] / sqrt(params[c->var + o]);
        out.mean[o] = params[c->beta + o] + factor * (mean - params[c->mean + o]);
        out.var[o] = factor * factor * var;
    }
    *m = out;
}

/* @param m of what the block reads; receives what it gives */
static void random_block(float *params, const resnet18_block *b, moments *m, random_state *rng)
{
    moments shortcut = *m;
    const int channels = resnet18_convs[b->conv2].out_channels;
    random_conv(params, &resnet18_convs[b->conv1], m, 1.5, rng);
    after_relu(m, channels);
    random_conv(params, &resnet18_convs[b->conv2], m, 1.0, rng);
    if (b->downsample >= 0) {
        random_conv(params, &resnet18_convs[b->downsample], &shortcut, 1.0, rng);
    }
    for (int c = 0; c < channels; c++) {
        m->mean[c] += shortcut.mean[c];
        m->var[c] += shortcut.var[c];
    }
    after_relu(m, channels);
}

/* Logits with about the deviation of trained ones, and without what all images have in common. */
static void random_linear(float *params, const moments *m, random_state *rng)
{
    float *w = params + RESNET18_FC_W;
    for (int o = 0; o < RESNET18_CLASSES; o++, w += RESNET18_FEATURES) {
        random_fill_normal(rng, w, RESNET18_FEATURES, 0.3f);
        double common = 0.0;
        for (int i = 0; i < RESNET18_FEATURES; i++) common += w[i] * m->mean[i];
        params[RESNET18_FC_BIAS + o] = 0.3f * random_normal(rng) - (float)common;
    }
}

void resnet18_random_params(float *params, unsigned long long seed)
{
    random_state rng = random_seed(seed);
    moments m = {.var = {1.0, 1.0, 1.0}}; /* of images */
    const int channels = resnet18_convs[0].out_channels;
    random_conv(params, &resnet18_convs[0], &m, 1.5, &rng);
    after_relu(&m, channels);
    after_maxpool(&m, channels);
    for (int i = 0; i < RESNET18_BLOCKS; i++) random_block(params, &resnet18_blocks[i], &m, &rng);
    random_linear(params, &m, &rng);
}

/* ---- images ---------------------------------------------------------------------------------- */

#define WAVES 8
#define NOISE 0.3f

/* Add one wave of a random direction, with another amplitude in each colour. */
static void add_wave(float *image, int size, random_state *rng)
{
    const float pi = 3.14159265f, length = random_uniform(rng, 0.1f, 2.0f);
    const float angle = random_uniform(rng, 0.0f, 2 * pi),
                phase = random_uniform(rng, 0.0f, 2 * pi);
    const float step = 2 * pi / (length * (float)size);
    const float right = step * cosf(angle), down = step * sinf(angle);
    /* The square of a cosine is 1/2 on average. */
    const float amplitude = sqrtf(2.0f * (1.0f - NOISE * NOISE) / WAVES);
    for (int c = 0; c < 3; c++) {
        const float a = amplitude * random_normal(rng);
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                *image++ += a * cosf(down * (float)i + right * (float)j + phase);
            }
        }
    }
}

void resnet18_random_images(float *x, int batch, int size, unsigned long long seed)
{
    const size_t floats = (size_t)3 * size * size;
    random_state seeds = random_seed(seed);
    for (int i = 0; i < batch; i++, x += floats) {
        random_state rng = random_seed(random_u64(&seeds));
        random_fill_normal(&rng, x, floats, NOISE);
        for (int wave = 0; wave < WAVES; wave++) add_wave(x, size, &rng);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static weights_array array_of(resnet18_name name, const char *layer, const char *what,
                              const float *data, int first)
{
    snprintf(name, sizeof(resnet18_name), "%s.%s", layer, what);
    return (weights_array){name, {(uint32_t)first, 1, 1, 1}, data};
}

void resnet18_arrays(weights_array arrays[RESNET18_ARRAYS], resnet18_name names[RESNET18_ARRAYS],
                     const float *params)
{
    for (int i = 0; i < RESNET18_CONVS; i++, arrays += 5, names += 5) {
        const resnet18_conv *c = &resnet18_convs[i];
        const int out = c->out_channels;
        arrays[0] = array_of(names[0], c->name, "weight", params + c->w, out);
        arrays[0].dims[1] = (uint32_t)c->in_channels;
        arrays[0].dims[2] = arrays[0].dims[3] = (uint32_t)c->kernel;
        arrays[1] = array_of(names[1], c->bn, "weight", params + c->gamma, out);
        arrays[2] = array_of(names[2], c->bn, "bias", params + c->beta, out);
        arrays[3] = array_of(names[3], c->bn, "running_mean", params + c->mean, out);
        arrays[4] = array_of(names[4], c->bn, "running_var", params + c->var, out);
    }
    arrays[0] = array_of(names[0], "fc", "weight", params + RESNET18_FC_W, RESNET18_CLASSES);
    arrays[0].dims[1] = RESNET18_FEATURES;
    arrays[1] = array_of(names[1], "fc", "bias", params + RESNET18_FC_BIAS, RESNET18_CLASSES);
}

void *resnet18_weights_image(size_t *bytes, const float *params)
{
    weights_array arrays[RESNET18_ARRAYS];
    resnet18_name names[RESNET18_ARRAYS];
    resnet18_arrays(arrays, names, params);
    return weights_image(bytes, arrays, RESNET18_ARRAYS);
}

int resnet18_save(const char *path, const float *params)
{
    size_t bytes;
    void *file = resnet18_weights_image(&bytes, params);
    FILE *to = file != NULL ? fopen(path, "wb") : NULL;
    int good = to != NULL && fwrite(file, 1, bytes, to) == bytes;
    if (to != NULL) good = fclose(to) == 0 && good;
    free(file);
    return good ? 0 : -1;
}
