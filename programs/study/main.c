/*
 * main.c: `make study`, what bounds the autoencoder of exercise 511.
 *
 *   study [BATCH ...]       TSV on stdout
 *
 * A row is a median with its 95 % interval, by order statistics, in milliseconds of one call:
 *
 *   call     one call, launched from an idle device and waited for, by the host's clock
 *   replay   the same, as a graph of one call
 *   stream   many calls launched one after the other, and waited for once
 *   device the same calls as one graph: the time without launches by the host
 *
 * Each is measured for the layers one by one (layers), the fused kernel (fused), and the fused
 * kernel without one of its options (fused-NAME). Every one of them must give the numbers of the
 * layers, or nothing is timed. Lines that begin with # name the machine, its copy bandwidth, and
 * the least that a frame needs; study.sh adds the machine's fp32 peak.
 *
 * softgpu has no times: there the batches are small, and the rows are counted: `launches`, `bytes`,
 * `% of lanes` at work in an instruction, which shows divergence; of the fused kernel also
 * `% of shared memory`, of what a block of this device may have.
 */
#include "cuda_check.h"
#include "network.h"
#include "random.h"
#include "softgpu.h"
#include "timer.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REPEATS   15
#define CALLS     1000      /* of a stream or a graph */
#define MOST_ROWS (1 << 20) /* frames of a stream or a graph: larger batches get fewer calls */
#define TOLERANCE 4e-3f     /* of a fast GELU */

/* Of softgpu alone. */
void softgpu_count_start(void) __attribute__((weak));
void softgpu_count_stop(device_counts *counts) __attribute__((weak));

typedef struct study {
    int batch;
    float *x, *y, *latent, *params, *scratch;
    float *h_want, *h_got; /* [batch x SAE_INPUTS] */
    cudaStream_t stream;
} study;

typedef struct variant {
    const char *name;
    int options; /* of the fused kernel; -1: the layers */
} variant;

static const variant variants[] = {
    {"layers", -1},
    {"fused", SAE_ALL},
    {"fused-warp_sums", SAE_ALL & ~SAE_WARP_SUMS},
    {"fused-unroll", SAE_ALL & ~SAE_UNROLL},
    {"fused-vectors", SAE_ALL & ~SAE_VECTORS},
    {"fused-fast_gelu", SAE_ALL & ~SAE_FAST_GELU},
    {"fused-many_frames", SAE_ALL & ~SAE_MANY_FRAMES},
    {"fused-prefetch", SAE_ALL & ~SAE_PREFETCH},
};
#define VARIANTS (sizeof variants / sizeof *variants)

static cudaError_t forward(const study *s, const variant *v)
{
    if (v->options < 0)
        return sae_forward(s->y, s->latent, s->x, s->params, s->scratch, s->batch, s->stream);
    return sae_forward_fused(s->y, s->latent, s->x, s->params, s->batch, v->options, s->stream);
}

/* ---- medians --------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The interval between two order statistics holds the median in 95 % of all samples, however the
 * times are distributed. */
static void print_row(const study *s, const variant *v, const char *measure, int calls,
                      double seconds[REPEATS])
{
    const double half = 1.96 * sqrt(REPEATS) / 2;
    const int low = (int)floor(REPEATS / 2.0 - half) - 1, high = (int)ceil(REPEATS / 2.0 + half);
    const double ms = 1e3 / calls;
    qsort(seconds, REPEATS, sizeof *seconds, by_value);
    printf("%s\t%d\t%s\t%d\t%.6f\t%.6f\t%.6f\n", v->name, s->batch, measure, calls,
           ms * seconds[REPEATS / 2], ms * seconds[low], ms * seconds[high]);
}

/* ---- times ----------------------------------------------------------------------------------- */

static cudaError_t record(cudaGraph_t *graph, const study *s, const variant *v, int calls)
{
    CUDA_CHECK(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls; i++) CUDA_CHECK(forward(s, v));
    return cudaStreamEndCapture(s->stream, graph);
}

static cudaError_t capture(cudaGraphExec_t *exec, const study *s, const variant *v, int calls)
{
    cudaGraph_t graph;
    CUDA_CHECK(record(&graph, s, v, calls));
    CUDA_CHECK(cudaGraphInstantiate(exec, graph, 0));
    return cudaGraphDestroy(graph);
}

/* From an idle device to an idle device. @param exec NULL: calls are launched */
static cudaError_t time_calls(const study *s, const variant *v, const char *measure, int calls,
                              cudaGraphExec_t exec)
{
    double seconds[REPEATS];
    for (int i = -3; i < REPEATS; i++) {
        CUDA_CHECK(cudaStreamSynchronize(s->stream));
        const double began = seconds_now();
        if (exec != NULL) CUDA_CHECK(cudaGraphLaunch(exec, s->stream));
        for (int k = 0; k < calls && exec == NULL; k++) CUDA_CHECK(forward(s, v));
        CUDA_CHECK(cudaStreamSynchronize(s->stream));
        if (i >= 0) seconds[i] = seconds_now() - began;
    }
    print_row(s, v, measure, calls, seconds);
    return cudaSuccess;
}

static cudaError_t time_variant(const study *s, const variant *v)
{
    const int fit = MOST_ROWS / s->batch, calls = fit < 1 ? 1 : fit < CALLS ? fit : CALLS;
    cudaGraphExec_t one, many;
    CUDA_CHECK(capture(&one, s, v, 1));
    CUDA_CHECK(capture(&many, s, v, calls));
    CUDA_CHECK(time_calls(s, v, "call", 1, NULL));
    CUDA_CHECK(time_calls(s, v, "replay", 1, one));
    CUDA_CHECK(time_calls(s, v, "stream", calls, NULL));
    CUDA_CHECK(time_calls(s, v, "device", calls, many));
    CUDA_CHECK(cudaGraphExecDestroy(one));
    return cudaGraphExecDestroy(many);
}

/* ---- counts, where there are no times -------------------------------------------------------- */

static void print_count(const study *s, const variant *v, const char *measure, double count)
{
    printf("%s\t%d\t%s\t1\t%.10g\t%.10g\t%.10g\n", v->name, s->batch, measure, count, count, count);
}

/* The fused kernel is the one node of its graph. */
static cudaError_t count_shared_memory(const study *s, const variant *v)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    struct cudaKernelNodeParams kernel;
    size_t nodes = 1;
    int limit;
    CUDA_CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CUDA_CHECK(record(&graph, s, v, 1));
    CUDA_CHECK(cudaGraphGetNodes(graph, &node, &nodes));
    CUDA_CHECK(cudaGraphKernelNodeGetParams(node, &kernel));
    print_count(s, v, "% of shared memory", 100.0 * kernel.sharedMemBytes / limit);
    return cudaGraphDestroy(graph);
}

static cudaError_t count_variant(const study *s, const variant *v)
{
    device_counts c;
    softgpu_count_start();
    CUDA_CHECK(forward(s, v));
    CUDA_CHECK(cudaStreamSynchronize(s->stream));
    softgpu_count_stop(&c);
    print_count(s, v, "launches", (double)c.launches);
    print_count(s, v, "bytes", 32.0 * (double)(c.global_load.sectors + c.global_store.sectors));
    print_count(s, v, "% of lanes", 100.0 * (double)c.lanes / (32.0 * (double)c.instructions));
    return v->options < 0 ? cudaSuccess : count_shared_memory(s, v);
}

/* ---- one batch ------------------------------------------------------------------------------- */

static cudaError_t array(float **d_x, size_t count)
{
    return cudaMalloc((void **)d_x, count * sizeof(float));
}

/* Weights of the size that a layer of that many inputs begins with; every gamma 1. */
static void make_params(float *params, random_state *rng)
{
    random_fill_uniform(rng, params, SAE_PARAMS, -0.1f, 0.1f);
    for (int i = 0; i < SAE_INPUTS; i++) params[SAE_GAMMA1 + i] = 1;
    for (int i = 0; i < SAE_LATENT; i++) params[SAE_GAMMA2 + i] = 1;
}

static cudaError_t begin(study *s, int batch)
{
    static float params[SAE_PARAMS];
    const size_t rows = (size_t)batch, floats = rows * SAE_INPUTS;
    random_state rng = random_seed(511);
    s->batch = batch;
    s->h_want = malloc(floats * sizeof(float));
    s->h_got = malloc(floats * sizeof(float));
    if (s->h_want == NULL || s->h_got == NULL) return cudaErrorMemoryAllocation;
    CUDA_CHECK(array(&s->x, floats));
    CUDA_CHECK(array(&s->y, floats));
    CUDA_CHECK(array(&s->latent, rows * SAE_LATENT));
    CUDA_CHECK(array(&s->params, SAE_PARAMS));
    CUDA_CHECK(array(&s->scratch, rows * SAE_SCRATCH));
    CUDA_CHECK(cudaStreamCreate(&s->stream));
    make_params(params, &rng);
    random_fill_normal(&rng, s->h_want, floats, 1);
    CUDA_CHECK(cudaMemcpy(s->params, params, sizeof params, cudaMemcpyHostToDevice));
    return cudaMemcpy(s->x, s->h_want, floats * sizeof(float), cudaMemcpyHostToDevice);
}

static void end(study *s)
{
    float *d_arrays[] = {s->x, s->y, s->latent, s->params, s->scratch};
    for (int i = 0; i < 5; i++) cudaFree(d_arrays[i]);
    if (s->stream != NULL) cudaStreamDestroy(s->stream);
    free(s->h_want);
    free(s->h_got);
}

static cudaError_t run(const study *s, const variant *v, float *h_y)
{
    const size_t bytes = (size_t)s->batch * SAE_INPUTS * sizeof(float);
    CUDA_CHECK(cudaMemset(s->y, 0xff, bytes)); /* NaN: what is not written shows */
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(forward(s, v));
    CUDA_CHECK(cudaStreamSynchronize(s->stream));
    return cudaMemcpy(h_y, s->y, bytes, cudaMemcpyDeviceToHost);
}

/* The same numbers before and after an optimization: without that, a time means nothing. */
static cudaError_t verify(const study *s)
{
    CUDA_CHECK(run(s, &variants[0], s->h_want));
    for (size_t v = 1; v < VARIANTS; v++) {
        CUDA_CHECK(run(s, &variants[v], s->h_got));
        for (size_t i = 0; i < (size_t)s->batch * SAE_INPUTS; i++) {
            if (fabsf(s->h_got[i] - s->h_want[i]) <= TOLERANCE) continue;
            fprintf(stderr, "study: %s gives %g for y[%zu] of batch %d, the layers %g\n",
                    variants[v].name, s->h_got[i], i, s->batch, s->h_want[i]);
            return cudaErrorUnknown;
        }
    }
    return cudaSuccess;
}

static cudaError_t study_batch(int batch)
{
    study s = {0};
    cudaError_t error = begin(&s, batch);
    if (error == cudaSuccess) error = verify(&s);
    for (size_t v = 0; v < VARIANTS && error == cudaSuccess; v++)
        error =
            softgpu_count_start ? count_variant(&s, &variants[v]) : time_variant(&s, &variants[v]);
    end(&s);
    return error;
}

/* ---- the machine ----------------------------------------------------------------------------- */

#define COPIED ((size_t)256 << 20)

/* Bytes read and written in a second by a copy on the device. */
static cudaError_t copy_bandwidth(double *bytes)
{
    char *from, *to;
    CUDA_CHECK(cudaMalloc((void **)&from, COPIED));
    CUDA_CHECK(cudaMalloc((void **)&to, COPIED));
    *bytes = 0;
    for (int i = 0; i < 5; i++) {
        CUDA_CHECK(cudaDeviceSynchronize());
        const double began = seconds_now();
        for (int k = 0; k < 10; k++)
            CUDA_CHECK(cudaMemcpyAsync(to, from, COPIED, cudaMemcpyDeviceToDevice, 0));
        CUDA_CHECK(cudaDeviceSynchronize());
        *bytes = fmax(*bytes, 20.0 * COPIED / (seconds_now() - began));
    }
    CUDA_CHECK(cudaFree(from));
    return cudaFree(to);
}

static cudaError_t describe_machine(void)
{
    struct cudaDeviceProp p;
    double copy = 0;
    const char *commit = getenv("COURSE_COMMIT");
    const int weights = 2 * SAE_HIDDEN * (SAE_INPUTS + SAE_LATENT);
    CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
    printf("# device %s, commit %s\n", p.name, commit ? commit : "unknown");
    printf("# flop %d of a frame's products\n", 2 * weights);
    printf("# traffic %zu bytes of a frame: x, latent and y\n",
           (2 * SAE_INPUTS + SAE_LATENT) * sizeof(float));
    printf("# weights %zu bytes of all parameters\n", SAE_PARAMS * sizeof(float));
    if (softgpu_count_start) {
        printf("# softgpu has no times: it counts, for small batches\n");
    } else {
        CUDA_CHECK(copy_bandwidth(&copy));
        printf("# copy %.4g bytes a second\n", copy);
    }
    printf("implementation\tbatch\tmeasure\tcalls\tmedian\tlow\thigh\n");
    return cudaSuccess;
}

int main(int argc, char **argv)
{
    static const int usual[] = {1, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536};
    static const int small[] = {1, 32, 64};
    const int *batches = softgpu_count_start ? small : usual;
    int count = (int)(softgpu_count_start ? sizeof small : sizeof usual) / (int)sizeof(int);
    if (argc > 1) count = argc - 1;
    for (int i = 1; i < argc; i++) {
        if (atoi(argv[i]) < 1 || atoi(argv[i]) > MOST_ROWS) {
            fprintf(stderr, "usage: study [BATCH ...], each from 1 to %d\n", MOST_ROWS);
            return 2;
        }
    }
    if (describe_machine() != cudaSuccess) return 1;
    for (int i = 0; i < count; i++)
        if (study_batch(argc > 1 ? atoi(argv[i + 1]) : batches[i]) != cudaSuccess) return 1;
    return 0;
}
