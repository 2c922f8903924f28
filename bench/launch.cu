/*
 * launch.cu: the step of 407, of 1 to 200 small kernels: as plain launches and as a graph.
 *
 *   launch [ROUNDS ...]     TSV on stdout
 *
 * Each figure is the median of 31 runs, by the host's clock, from an idle device until it is idle
 * again; every run has other pointers than the one before. Making the graph is timed once. Lines
 * that begin with # name the machine. On softgpu the figures say how fast the emulator is.
 */
#include "cuda_check.h"
#include "optimization.h"
#include "timer.h"

#include <stdio.h>
#include <stdlib.h>

#define REPEATS 31
#define N       1000 /* floats of a step */
#define RATE    0.25f

/** What one size needs: two pairs of arrays that take turns. */
typedef struct bench {
    int rounds;
    float *x[2], *y[2], *scratch; /* [N] each, scratch [2 x N] */
    step_graph *graph;
} bench;

typedef cudaError_t step(const bench *b, int turn);

static cudaError_t launched(const bench *b, int turn)
{
    return step_launch(b->y[turn], b->x[turn], b->scratch, N, b->rounds, RATE, 0);
}

static cudaError_t replayed(const bench *b, int turn)
{
    return step_graph_run(b->graph, b->y[turn], b->x[turn], 0);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cudaError_t time_step(double *microseconds, step *run, const bench *b)
{
    double times[REPEATS];
    for (int i = -2; i < REPEATS; i++) {
        CUDA_CHECK(cudaDeviceSynchronize());
        const double began = seconds_now();
        CUDA_CHECK(run(b, i & 1));
        CUDA_CHECK(cudaDeviceSynchronize());
        if (i >= 0) times[i] = 1e6 * (seconds_now() - began);
    }
    qsort(times, REPEATS, sizeof *times, by_value);
    *microseconds = times[REPEATS / 2];
    return cudaSuccess;
}

static cudaError_t bench_rounds(bench *b, int rounds)
{
    double launches, replay;
    b->rounds = rounds;
    const double began = seconds_now();
    CUDA_CHECK(step_graph_create(&b->graph, N, rounds, RATE));
    const double create = 1e6 * (seconds_now() - began);
    CUDA_CHECK(time_step(&launches, launched, b));
    CUDA_CHECK(time_step(&replay, replayed, b));
    printf("%d\t%.2f\t%.3f\t%.2f\t%.3f\t%.2f\t%.2f\n", rounds, launches, launches / rounds, replay,
           replay / rounds, launches / replay, create);
    return step_graph_free(b->graph);
}

static cudaError_t array(float **d_x, size_t count)
{
    CUDA_CHECK(cudaMalloc((void **)d_x, count * sizeof(float)));
    return cudaMemset(*d_x, 0, count * sizeof(float));
}

static cudaError_t make(bench *b)
{
    for (int i = 0; i < 2; i++) {
        CUDA_CHECK(array(&b->x[i], N));
        CUDA_CHECK(array(&b->y[i], N));
    }
    return array(&b->scratch, 2 * N);
}

static cudaError_t describe_machine(void)
{
    cudaDeviceProp p;
    int driver = 0, runtime = 0;
    float submit, launch, node;
    CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    CUDA_CHECK(launch_overhead_ns(&submit, &launch, &node, 500, 0));
    const char *commit = getenv("COURSE_COMMIT");
    printf("# device %s, driver for CUDA %d.%d, runtime %d.%d, commit %s\n", p.name, driver / 1000,
           driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, commit ? commit : "unknown");
    printf("# 500 empty kernels, nanoseconds of each: submitted %.0f, launched %.0f, as nodes "
           "%.0f\n",
           submit, launch, node);
    printf("rounds\tlaunches us\tus a launch\tgraph us\tus a node\ttimes\tcreate us\n");
    return cudaSuccess;
}

int main(int argc, char **argv)
{
    static const int usual[] = {1, 2, 5, 10, 20, 40, 100, 200};
    const int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
    bench b = {};
    if (describe_machine() || make(&b)) return 1;
    for (int i = 0; i < count; i++) {
        const int rounds = argc > 1 ? atoi(argv[i + 1]) : usual[i];
        if (rounds < 1) {
            fprintf(stderr, "usage: launch [ROUNDS ...], each at least 1\n");
            return 2;
        }
        if (bench_rounds(&b, rounds)) return 1;
    }
    return 0;
}
