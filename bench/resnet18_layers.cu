/*
 * resnet18_layers.cu: exercise 507 layer by layer: every convolution of ResNet-18 with every tile
 * and number of splits, in every precision.
 *
 *   resnet18_layers [BATCH ...]      TSV on stdout; default: 1 4 8 16 32 64
 *   resnet18_layers --rule ...       only what conv_choose takes: how far each layer is from its
 * roof SIZE=32 resnet18_layers 1        images of another size than 224
 *
 * A figure is the least of REPEATS launches of a graph of CALLS calls, divided by CALLS: the device
 * should have no other work, and launches cost as much as in the network's graph. A layer finds its
 * weights and images in the L2 cache as far as they fit, as it does in the network, where the layer
 * before has just written them. A line's columns:
 *
 *   FLOP/B  were each tensor moved once
 *   bound   by arithmetic, or by memory: whatever alone would need more time
 *   share   that time, of the one measured; by the ceilings below, which are those of an H200's
 * `mma` and memory rule    1: what conv_choose takes best    1: the fastest of its layer
 *
 * Behind #, for each precision and batch: the sum of all layers, as the rule of 507_plan.cuh has it
 * and at best.
 *
 * Built for softgpu it says nothing of time, and shows that every choice can be launched.
 */
#include "507_layers.cuh"
#include "cuda_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS   10
#define REPEATS 5

/* FLOP a second by precision, a product of RESNET18_FP32 being three; bytes a second. */
static const double ceilings[] = {495e12 / 3, 495e12, 990e12};
#define MEMORY 4.8e12

static const char *const precisions[] = {"fp32", "tf32", "fp16"};
static int calls = CALLS, repeats = REPEATS;
static bool only_rule;

/** The buffers of all layers; what is in them does not matter, but for NaN, which is slow nowhere.
 */
typedef struct buffers {
    char *x, *w, *y, *partial;
    size_t x_bytes, w_bytes, y_bytes, partial_bytes;
    int *arrived;
} buffers;

typedef struct trial {
    int variant, splits;
    double microseconds;
} trial;

typedef struct bench {
    resnet18_opt net;
    buffers b;
    int processors;
    bool hopper;
    double rule, best; /* microseconds of all layers */
} bench;

/* ---- one choice ------------------------------------------------------------------------------ */

/** A layer as one kernel launches it: of conv_kernel the arguments and the tile, or Hopper's. */
typedef struct choice {
    conv_args *args;
    conv_variant variant;
    hopper_layer *hopper; /* or NULL */
    hopper_stem *stem;    /* or NULL */
} choice;

static cudaError_t launch(choice c, cudaStream_t stream)
{
    if (c.stem) return stem_launch(c.stem, (const float *)c.args->x, stream);
    if (c.hopper) return hopper_launch(c.hopper, false, stream);
    return conv_launch(c.args, c.variant, false, stream);
}

static cudaError_t capture_calls(cudaGraphExec_t *exec, choice c, cudaStream_t stream)
{
    cudaGraph_t graph;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls; i++) CUDA_CHECK(launch(c, stream));
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(exec, graph, 0));
    return cudaGraphDestroy(graph);
}

static cudaError_t time_graph(double *microseconds, cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    *microseconds = 1e30;
    for (int i = -1; i < repeats; i++) {
        float ms;
        CUDA_CHECK(cudaEventRecord(start, stream));
        CUDA_CHECK(cudaGraphLaunch(exec, stream));
        CUDA_CHECK(cudaEventRecord(stop, stream));
        CUDA_CHECK(cudaEventSynchronize(stop));
        CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (i >= 0 && 1e3 * ms / calls < *microseconds) *microseconds = 1e3 * ms / calls;
    }
    CUDA_CHECK(cudaEventDestroy(start));
    return cudaEventDestroy(stop);
}

static cudaError_t time_choice(double *microseconds, choice c)
{
    cudaStream_t stream;
    cudaGraphExec_t exec;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(capture_calls(&exec, c, stream));
    CUDA_CHECK(time_graph(microseconds, exec, stream));
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    return cudaStreamDestroy(stream);
}

/* ---- one layer ------------------------------------------------------------------------------- */

static double flop_of(const bench *b, int i)
{
    const int size = b->net.size;
    return 2.0 * b->net.batch * resnet18_multiply_adds(i, size);
}

static double bytes_of(const bench *b, int i)
{
    const conv_args *a = &b->net.layers[i].args;
    const double in_pixels = (double)b->net.batch * a->in_side * a->in_side;
    const double in_channels = i == 0               ? STEM_CHANNELS
                               : i < RESNET18_CONVS ? resnet18_convs[i].in_channels
                                                    : RESNET18_FEATURES;
    const double y = (double)a->pixels * a->channels * (b->net.layers[i].residual ? 2 : 1);
    return (in_pixels * in_channels + y) * b->net.element_bytes +
           (double)a->channels * a->steps * ROW_BYTES;
}

/* More blocks than eight rounds of them gain nothing by splits. */
static bool is_worth_a_try(const bench *b, const conv_args *a, conv_variant v)
{
    const int blocks = conv_tiles(a, v) * a->splits;
    const bool waste = v.n > a->channels && v.n > 64;
    return !waste && (a->splits == 1 || (blocks <= 8 * b->processors &&
                                         conv_partial_floats(a, v) * 4 <= b->b.partial_bytes));
}

static cudaError_t try_all(trial *trials, int *count, const bench *b, conv_args *a)
{
    static const int splits[] = {1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 18, 24, 32};
    *count = 0;
    for (int v = 0; v < CONV_VARIANTS; v++) {
        const conv_variant variant = conv_variant_of(b->net.precision, v);
        for (size_t s = 0; s < sizeof splits / sizeof *splits && splits[s] <= a->steps; s++) {
            trial *t = &trials[*count];
            a->splits = splits[s];
            if (!is_worth_a_try(b, a, variant)) continue;
            *t = (trial){v, splits[s], 0.0};
            CUDA_CHECK(time_choice(&t->microseconds, choice{a, variant, NULL, NULL}));
            ++*count;
        }
    }
    return cudaSuccess;
}

/** Hopper's tiles are numbered behind those of conv_kernel. */
static void tile_of(int *m, int *n, const bench *b, int i, int variant)
{
    hopper_layer l;
    if (variant >= CONV_VARIANTS) {
        const hopper_shape shape = hopper_shape_of(&b->net, i);
        hopper_fit(&l, &shape, b->net.precision, variant - CONV_VARIANTS);
        hopper_tile(m, n, &l);
    } else {
        const conv_variant v = conv_variant_of(b->net.precision, variant);
        *m = v.m, *n = v.n;
    }
}

static void print_trial(const bench *b, int i, const trial *t, bool rule, bool best)
{
    const layer *l = &b->net.layers[i];
    int m, n;
    tile_of(&m, &n, b, i, t->variant);
    const double flop = flop_of(b, i), arithmetic = flop / ceilings[b->net.precision];
    const double memory = bytes_of(b, i) / MEMORY;
    const double least = 1e6 * (arithmetic > memory ? arithmetic : memory);
    printf("%s\t%d\t%s\t%d\t%d\t%d\t%dx%d\t%d\t%.2f\t%.1f\t%.1f\t%s\t%.3f\t%d\t%d\n",
           precisions[b->net.precision], b->net.batch,
           i < RESNET18_CONVS ? resnet18_convs[i].name : "fc", l->args.pixels, l->args.channels,
           l->args.steps, m, n, t->splits, t->microseconds, 1e-6 * flop / t->microseconds,
           flop / bytes_of(b, i), arithmetic > memory ? "arithmetic" : "memory",
           least / t->microseconds, rule, best);
}

/** The layer by Hopper's units, in each of its tiles; and which of them the network takes.
 *  @param chosen the number of conv_kernel's tile, which takes so many cycles */
static cudaError_t try_hopper(trial *trials, int *count, bench *b, int i, int *chosen,
                              double cycles)
{
    const hopper_shape shape = hopper_shape_of(&b->net, i);
    const conv_args *a = &b->net.layers[i].args;
    hopper_layer taken, l;
    CUDA_CHECK(hopper_choose(&taken, &shape, b->net.precision, b->processors, cycles));
    for (int v = 0; v < HOPPER_VARIANTS; v++) {
        if (!hopper_fit(&l, &shape, b->net.precision, v)) continue;
        CUDA_CHECK(hopper_prepare(&l));
        CUDA_CHECK(hopper_point(&l, a->x, a->y, a->residual, a->w, whole_blocks(a->channels),
                                a->bias, a->relu));
        trial *t = &trials[(*count)++];
        *t = (trial){CONV_VARIANTS + v, 1, 0.0};
        if (l.kernel == taken.kernel && *chosen < CONV_VARIANTS) *chosen = t->variant;
        CUDA_CHECK(time_choice(&t->microseconds, choice{NULL, {}, &l, NULL}));
    }
    return cudaSuccess;
}

/* @param weight how many layers of the network are like this one */
static cudaError_t bench_layer(bench *b, int i, int weight)
{
    trial trials[CONV_VARIANTS * 13 + HOPPER_VARIANTS + 1], *best = trials, *rule = NULL;
    conv_args a = b->net.layers[i].args;
    int count = 0, chosen;
    double cycles;
    CUDA_CHECK(conv_choose(&chosen, &cycles, &a, b->net.precision, b->processors));
    int chosen_splits = a.splits;
    if (!only_rule) CUDA_CHECK(try_all(trials, &count, b, &a));
    if (b->hopper && i > 0 && i < RESNET18_CONVS)
        CUDA_CHECK(try_hopper(trials, &count, b, i, &chosen, cycles));
    if (chosen >= CONV_VARIANTS) chosen_splits = 1;
    for (int t = 0; t < count; t++) {
        if (trials[t].microseconds < best->microseconds) best = &trials[t];
        if (trials[t].variant == chosen && trials[t].splits == chosen_splits) rule = &trials[t];
    }
    if (rule == NULL) {
        rule = &trials[count++];
        *rule = (trial){chosen, chosen_splits, 0.0};
        a.splits = chosen_splits;
        CUDA_CHECK(time_choice(&rule->microseconds,
                               choice{&a, conv_variant_of(b->net.precision, chosen), NULL, NULL}));
    }
    if (rule->microseconds < best->microseconds) best = rule;
    for (int t = 0; t < count; t++)
        print_trial(b, i, &trials[t], &trials[t] == rule, &trials[t] == best);
    b->rule += weight * rule->microseconds;
    b->best += weight * best->microseconds;
    return cudaSuccess;
}

/** All before the blocks by Hopper's units: a line of its own, in place of conv1's. */
static cudaError_t bench_stem(bench *b)
{
    hopper_stem stem = {};
    double microseconds;
    const conv_args *a = &b->net.layers[0].args;
    CUDA_CHECK(stem_choose(&stem, b->net.batch, b->net.size, b->net.precision, b->processors));
    if (stem.kernel == NULL) return cudaSuccess;
    CUDA_CHECK(stem_point(&stem, b->b.y, a->w, a->bias, b->net.element_bytes));
    CUDA_CHECK(time_choice(&microseconds, choice{&b->net.layers[0].args, {}, NULL, &stem}));
    printf("# %s, batch %d: image to pooled stem in one kernel: %.2f us\n",
           precisions[b->net.precision], b->net.batch, microseconds);
    return cudaSuccess;
}

/* ---- one network ----------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void measure_buffers(bench *b)
{
    buffers *u = &b->b;
    *u = (buffers){};
    for (int i = 0; i < SLOTS; i++) u->x_bytes = larger(u->x_bytes, b->net.slot_bytes[i]);
    for (int i = 0; i < LAYERS; i++) {
        const conv_args *a = &b->net.layers[i].args;
        u->w_bytes = larger(u->w_bytes, /* hi and lo */
                            (size_t)2 * whole_blocks(a->channels) * a->steps * ROW_BYTES);
        u->y_bytes = larger(u->y_bytes, (size_t)a->pixels * a->channels * sizeof(float));
    }
    u->partial_bytes = (size_t)64 << 20;
}

/* Of numbers that are neither 0 nor large, as halfs and as floats. */
static cudaError_t allocate(char **p, size_t bytes)
{
    CUDA_CHECK(cudaMalloc((void **)p, bytes));
    return cudaMemset(*p, 0x2c, bytes);
}

static cudaError_t make_buffers(bench *b)
{
    buffers *u = &b->b;
    const size_t counters = (size_t)4 << 20;
    measure_buffers(b);
    CUDA_CHECK(allocate(&u->x, u->x_bytes));
    CUDA_CHECK(allocate(&u->w, u->w_bytes));
    CUDA_CHECK(allocate(&u->y, u->y_bytes));
    CUDA_CHECK(allocate(&u->partial, u->partial_bytes));
    CUDA_CHECK(cudaMalloc((void **)&u->arrived, counters));
    return cudaMemset(u->arrived, 0, counters);
}

static cudaError_t free_buffers(bench *b)
{
    CUDA_CHECK(cudaFree(b->b.x));
    CUDA_CHECK(cudaFree(b->b.w));
    CUDA_CHECK(cudaFree(b->b.y));
    CUDA_CHECK(cudaFree(b->b.partial));
    return cudaFree(b->b.arrived);
}

static void point_at_buffers(bench *b, layer *l)
{
    l->args.x = (const uint4 *)b->b.x;
    l->args.w = (const uint4 *)b->b.w;
    l->args.y = b->b.y;
    l->args.residual = l->residual ? b->b.y : NULL;
    l->args.bias = (const float *)b->b.w;
    l->args.partial = (float *)b->b.partial;
    l->args.arrived = b->b.arrived;
}

static bool alike(const layer *a, const layer *b)
{
    return a->args.pixels == b->args.pixels && a->args.channels == b->args.channels &&
           a->args.steps == b->args.steps && a->args.stride == b->args.stride &&
           a->residual == b->residual;
}

static cudaError_t bench_network(bench *b)
{
    b->rule = b->best = 0.0;
    CUDA_CHECK(make_buffers(b));
    for (int i = 0; i < LAYERS; i++) point_at_buffers(b, &b->net.layers[i]);
    for (int i = 0; i < LAYERS; i++) {
        int weight = 0, first = i;
        for (int j = 0; j < LAYERS; j++) {
            if (!alike(&b->net.layers[i], &b->net.layers[j])) continue;
            if (j < first) first = j;
            weight++;
        }
        if (first == i) CUDA_CHECK(bench_layer(b, i, weight));
    }
    if (b->hopper) CUDA_CHECK(bench_stem(b));
    printf("# %s, batch %d: all layers take %.1f us by the rule, %.1f us at best\n",
           precisions[b->net.precision], b->net.batch, b->rule, b->best);
    fflush(stdout);
    return free_buffers(b);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static cudaError_t describe_machine(bench *b)
{
    cudaDeviceProp p;
    CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
    const char *commit = getenv("COURSE_COMMIT");
    CUDA_CHECK(cudaDeviceGetAttribute(&b->processors, cudaDevAttrMultiProcessorCount, 0));
    b->hopper = hopper_multiprocessors() > 0;
    printf("# device %s, %d multiprocessors, commit %s\n", p.name, b->processors,
           commit ? commit : "unknown");
    printf("# roofs: fp32=%g tf32=%g fp16=%g TFLOP/s, %g TB/s\n", 1e-12 * ceilings[0],
           1e-12 * ceilings[1], 1e-12 * ceilings[2], 1e-12 * MEMORY);
    printf("precision\tbatch\tlayer\tpixels\tchannels\tsteps\ttile\tsplits\tmicroseconds\tTFLOP/s\t"
           "FLOP/B\tbound\tshare\trule\tbest\n");
    if (p.name[0] == 's') calls = repeats = 1;
    return cudaSuccess;
}

static cudaError_t bench_batch(bench *b, int batch, int size)
{
    for (int p = RESNET18_FP32; p <= RESNET18_FP16; p++) {
        memset(&b->net, 0, sizeof b->net);
        b->net.precision = (resnet18_precision)p;
        b->net.batch = batch;
        b->net.size = size;
        b->net.element_bytes = p == RESNET18_FP16 ? sizeof(__half) : sizeof(float);
        plan_layers(&b->net);
        CUDA_CHECK(bench_network(b));
    }
    return cudaSuccess;
}

int main(int argc, char **argv)
{
    static const int usual[] = {1, 4, 8, 16, 32, 64};
    const char *size = getenv("SIZE");
    only_rule = argc > 1 && !strcmp(argv[1], "--rule");
    argc -= only_rule;
    argv += only_rule;
    const int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
    bench b = {};
    if (describe_machine(&b) != cudaSuccess) return 1;
    for (int i = 0; i < count; i++) {
        const int batch = argc > 1 ? atoi(argv[i + 1]) : usual[i];
        if (batch < 1) {
            fprintf(stderr, "usage: resnet18_layers [--rule] [BATCH ...], each at least 1\n");
            return 2;
        }
        if (bench_batch(&b, batch, size ? atoi(size) : 224) != cudaSuccess) return 1;
    }
    return 0;
}
