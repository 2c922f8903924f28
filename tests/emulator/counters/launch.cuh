/*
 * launch.cuh: a program of labelled launches, which run in the order in which they stand in the
 * source. `kernels list` prints a label for each kernel; `kernels` runs them all.
 *
 *     LAUNCH("copy") { copy<<<64, 256>>>(in.f, out.f, N); }
 *     LAUNCHES("linear_forward", 2) { a function that launches two kernels }
 */
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { N = 1 << 14, ROOM = 16 * N }; /* elements of a typical launch; of 4 bytes in a buffer */

/** A buffer of ROOM words under all types that it serves. */
union buffer {
    float *f;
    float2 *f2;
    float4 *f4;
    double *d;
    __half *h;
    __half2 *h2;
    unsigned char *c;
    int *i;
    unsigned *u;
    unsigned long long *ull;
    void *any;
};

static buffer in, out, numbers; /* numbers: integers below N, at random with a fixed seed */

struct labelled {
    char label[64];
    void (*run)(int);
    int argument, kernels;
};

static labelled launches[2048];
static int launch_count;

static bool add_launch(const char *label, void (*run)(int), int argument = 0, int kernels = 1)
{
    labelled *l = &launches[launch_count++];
    snprintf(l->label, sizeof l->label, "%s", label);
    l->run = run;
    l->argument = argument;
    l->kernels = kernels;
    return true;
}

#define LAUNCH_AT(label, kernels, number) LAUNCH_NAMED(label, kernels, number)
#define LAUNCH_NAMED(label, kernels, number)                                                       \
    static void launch_##number(int);                                                              \
    static bool added_##number = add_launch(label, launch_##number, 0, kernels);                   \
    static void launch_##number(int)
#define LAUNCH(label)            LAUNCH_AT(label, 1, __COUNTER__)
#define LAUNCHES(label, kernels) LAUNCH_AT(label, kernels, __COUNTER__)

__device__ static int thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

/** Floats around 1, and the numbers; as bytes, halves and doubles they are as good as any. */
static void make_buffers()
{
    unsigned *host = (unsigned *)malloc(ROOM * 4), seed = 12345;
    must(cudaMalloc(&in.any, ROOM * 4), "in");
    must(cudaMalloc(&out.any, ROOM * 4), "out");
    must(cudaMalloc(&numbers.any, ROOM * 4), "numbers");
    for (int i = 0; i < ROOM; i++) {
        seed = seed * 1664525u + 1013904223u;
        host[i] = seed >> 8 & (N - 1);
    }
    must(cudaMemcpy(numbers.any, host, ROOM * 4, cudaMemcpyHostToDevice), "numbers");
    for (int i = 0; i < ROOM; i++) {
        float value = 1.0f + (float)(host[i] % 64) / 64;
        memcpy(&host[i], &value, 4);
    }
    must(cudaMemcpy(in.any, host, ROOM * 4, cudaMemcpyHostToDevice), "in");
    must(cudaMemset(out.any, 0, ROOM * 4), "out");
    free(host);
}

static int run_launches(int argc, char **argv)
{
    bool list = argc > 1 && !strcmp(argv[1], "list");
    if (!list) make_buffers();
    for (int i = 0; i < launch_count; i++) {
        for (int k = 1; list && k <= launches[i].kernels; k++) {
            if (launches[i].kernels == 1)
                printf("%s\n", launches[i].label);
            else
                printf("%s, kernel %d\n", launches[i].label, k);
        }
        if (list) continue;
        launches[i].run(launches[i].argument);
        must(cudaGetLastError(), launches[i].label);
        must(cudaDeviceSynchronize(), launches[i].label);
    }
    return 0;
}
