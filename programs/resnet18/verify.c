/*
 * verify.c: is it the same network? Each implementation against the CPU's (504), on a few fixed
 * images: what each stage gives, the logits, and which class is the largest.
 *
 * fp32 in another order of sums differs by about 1e-6; TF32 and fp16 by about 1e-3. An absolute
 * bound of 1e-5 on logits would reject the former and mean nothing for other weights: bounds here
 * are relative, ||got - want|| / ||want||.
 */
#include "program.h"

#include "cuda_check.h"
#include "resnet18_weights.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_SEED    2026 /* of the images that are compared */
#define LAYERS_BOUND  1e-5
#define LOGITS_BOUND  1e-4
#define REDUCED_BOUND 1e-2 /* of logits, where factors are rounded to TF32 or fp16 */

/* The images, and what one implementation makes of them. */
typedef struct answers {
    int images, size;
    float *x;           /* [images x 3 x size x size] */
    float *logits;      /* [images x RESNET18_CLASSES] */
    float *activations; /* as in network.h */
} answers;

static size_t image_floats(const answers *a)
{
    return (size_t)3 * a->size * a->size;
}

static size_t floats_of(const answers *a)
{
    return (size_t)a->images * (image_floats(a) + RESNET18_CLASSES + resnet18_activations(a->size));
}

static answers answers_in(float *memory, const options *o)
{
    answers a = {.images = o->images, .size = o->size, .x = memory};
    if (!memory) return a;
    a.logits = a.x + (size_t)a.images * image_floats(&a);
    a.activations = a.logits + (size_t)a.images * RESNET18_CLASSES;
    return a;
}

/* NaN where anything is not a number. */
static double difference(const float *got, const float *want, size_t n)
{
    double squares = 0.0, norm = 0.0;
    for (size_t i = 0; i < n; i++) {
        squares += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        norm += (double)want[i] * want[i];
    }
    return sqrt(squares / norm);
}

static int top1(const float *logits)
{
    int best = 0;
    for (int i = 1; i < RESNET18_CLASSES; i++) {
        if (logits[i] > logits[best]) best = i;
    }
    return best;
}

/* ---- one implementation ---------------------------------------------------------------------- */

static cudaError_t forward(const subject *s, void *net, const answers *a, float *h_logits,
                           const float *h_x, int images)
{
    CUDA_CHECK(s->impl->forward(net, h_logits, h_x, images, a->size, 0));
    return cudaDeviceSynchronize();
}

static cudaError_t answer(const subject *s, void *net, answers *a)
{
    CUDA_CHECK(forward(s, net, a, a->logits, a->x, a->images));
    if (!s->impl->activations) return cudaSuccess;
    return s->impl->activations(net, a->activations, a->x, a->images, a->size, 0);
}

/* The same images in the opposite order, and the last of them alone. */
static cudaError_t other_company(bool *independent, const subject *s, void *net, const answers *a,
                                 double bound)
{
    const size_t image = image_floats(a), row = RESNET18_CLASSES;
    float *x = malloc((size_t)a->images * (image + row) * sizeof *x);
    float *logits = x + (size_t)a->images * image;
    if (!x) return cudaErrorMemoryAllocation;
    for (int i = 0; i < a->images; i++) {
        memcpy(x + i * image, a->x + (a->images - 1 - i) * image, image * sizeof *x);
    }
    CUDA_CHECK(forward(s, net, a, logits, x, a->images));
    *independent = true;
    for (int i = 0; i < a->images; i++) {
        const float *before = a->logits + (a->images - 1 - i) * row;
        *independent &= memcmp(logits + i * row, before, row * sizeof *x) == 0;
    }
    CUDA_CHECK(forward(s, net, a, logits, x, 1));
    *independent &= difference(logits, a->logits + (a->images - 1) * row, row) <= bound;
    free(x);
    return cudaSuccess;
}

/* ---- two of them ----------------------------------------------------------------------------- */

static double worst_stage(const answers *got, const answers *want)
{
    double worst = 0.0;
    size_t at = 0;
    for (int stage = 0; stage < RESNET18_STAGES; stage++) {
        int channels, side;
        resnet18_stage_shape(stage, got->size, &channels, &side);
        const size_t floats = (size_t)got->images * channels * side * side;
        const double d = difference(got->activations + at, want->activations + at, floats);
        if (!(d <= worst)) worst = d;
        at += floats;
    }
    return worst;
}

static void compare(agreement *g, const answers *got, const answers *want, const subject *s)
{
    const bool reduced = s->precision != RESNET18_FP32;
    g->images = got->images;
    g->logits = difference(got->logits, want->logits, (size_t)got->images * RESNET18_CLASSES);
    g->layers = s->impl->activations ? worst_stage(got, want) : NAN;
    for (int i = 0; i < got->images; i++) {
        g->same_top1 += top1(got->logits + (size_t)i * RESNET18_CLASSES) ==
                        top1(want->logits + (size_t)i * RESNET18_CLASSES);
    }
    g->holds = g->independent && g->logits <= (reduced ? REDUCED_BOUND : LOGITS_BOUND) &&
               (!s->impl->activations || g->layers <= LAYERS_BOUND) &&
               (reduced || g->same_top1 == g->images);
}

static cudaError_t make_reference(float **memory, const subject *s, const options *o)
{
    const subject cpu = {&implementations[0], RESNET18_FP32, s->h_params};
    answers a = answers_in(NULL, o);
    void *net;
    if (*memory) return cudaSuccess;
    *memory = malloc(floats_of(&a) * sizeof(float));
    if (!*memory) return cudaErrorMemoryAllocation;
    a = answers_in(*memory, o);
    resnet18_random_images(a.x, a.images, a.size, IMAGE_SEED);
    CUDA_CHECK(cpu.impl->create(&net, cpu.h_params, cpu.precision));
    CUDA_CHECK(answer(&cpu, net, &a));
    return cpu.impl->free(net);
}

cudaError_t verify(agreement *g, float **reference, const subject *s, const options *o)
{
    const double bound = s->precision == RESNET18_FP32 ? LOGITS_BOUND : REDUCED_BOUND;
    void *net;
    *g = (agreement){0};
    CUDA_CHECK(make_reference(reference, s, o));
    const answers want = answers_in(*reference, o);
    float *memory = malloc(floats_of(&want) * sizeof *memory);
    if (!memory) return cudaErrorMemoryAllocation;
    answers got = answers_in(memory, o);
    memcpy(got.x, want.x, (size_t)want.images * image_floats(&want) * sizeof *memory);
    CUDA_CHECK(s->impl->create(&net, s->h_params, s->precision));
    CUDA_CHECK(answer(s, net, &got));
    CUDA_CHECK(other_company(&g->independent, s, net, &got, bound));
    compare(g, &got, &want, s);
    free(memory);
    return s->impl->free(net);
}

int verify_write(const char *path, float *reference, const options *o)
{
    const answers a = answers_in(reference, o);
    const weights_array arrays[2] = {
        {"images", {(uint32_t)a.images, 3, (uint32_t)a.size, (uint32_t)a.size}, a.x},
        {"logits", {(uint32_t)a.images, RESNET18_CLASSES, 1, 1}, a.logits},
    };
    size_t bytes;
    void *image = weights_image(&bytes, arrays, 2);
    FILE *file = image ? fopen(path, "wb") : NULL;
    bool written = file && fwrite(image, 1, bytes, file) == bytes;
    if (file && fclose(file)) written = false;
    if (!written) fprintf(stderr, "resnet18: %s: %s\n", path, strerror(errno));
    free(image);
    return written ? 0 : -1;
}
