/*
 * gpt2.c: 510's training step in tokens a second, beside PyTorch where a python3 has it.
 *
 *   bench_gpt2 [tiny]     TSV on stdout
 *
 * The network is GPT-2 124M with random parameters and random tokens, 1,024 of them a sequence; a
 * step is forward, backward, clipping and AdamW. Its time is the median of STEPS after WARMUP, by
 * the host's clock from an idle device until it is idle again. flop are those of the products, 6 a
 * parameter that is multiplied and token, and of attention below its diagonal. tiny: a network that
 * softgpu can train, which has no times; that its loss falls is checked.
 */
#define _GNU_SOURCE
#include "cuda_check.h"
#include "network.h"
#include "random.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARMUP 3
#define STEPS  15

typedef struct task {
    gpt_config config;
    int batch, seq;
    int warmup, steps;
} task;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* On the device: tokens, and behind them the targets. */
static cudaError_t make_tokens(int **d_tokens, const task *t)
{
    const size_t n = 2 * (size_t)t->batch * (size_t)t->seq;
    random_state rng = random_seed(1);
    int *h_tokens = malloc(n * sizeof *h_tokens);
    if (h_tokens == NULL) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < n; i++) h_tokens[i] = (int)random_below(&rng, (uint64_t)t->config.vocab);
    cudaError_t error = cudaMalloc((void **)d_tokens, n * sizeof *h_tokens);
    if (error == cudaSuccess)
        error = cudaMemcpy(*d_tokens, h_tokens, n * sizeof *h_tokens, cudaMemcpyHostToDevice);
    free(h_tokens);
    return error;
}

static cudaError_t make_net(gpt2 **net, const task *t)
{
    float *h_params = malloc(gpt_params(&t->config) * sizeof *h_params);
    if (h_params == NULL) return cudaErrorMemoryAllocation;
    gpt_init(h_params, &t->config, 2);
    const cudaError_t error = gpt2_create(net, &t->config, h_params, t->batch, t->seq);
    free(h_params);
    return error;
}

/* Forward and backward. */
static double flop_of(const task *t)
{
    const double C = t->config.channels, tokens = (double)t->batch * t->seq;
    const double multiplied = t->config.layers * 12 * C * C + t->config.vocab * C;
    return tokens * (6 * multiplied + 3 * 2 * t->seq * C * t->config.layers);
}

/* @param ms [1] the median */
static cudaError_t time_steps(double *ms, float *h_first, float *h_last, gpt2 *net,
                              const int *d_tokens, const task *t)
{
    double times[STEPS];
    float *d_loss;
    CUDA_CHECK(cudaMalloc((void **)&d_loss, sizeof *d_loss));
    for (int i = -t->warmup; i < t->steps; i++) {
        CUDA_CHECK(cudaDeviceSynchronize());
        const double began = seconds_now();
        CUDA_CHECK(gpt2_train_step(net, d_loss, d_tokens, d_tokens + t->batch * t->seq, 1e-3f, 0.9f,
                                   0.95f, 1e-8f, 0.1f, 1.0f, NULL));
        CUDA_CHECK(cudaDeviceSynchronize());
        if (i >= 0) times[i] = 1e3 * (seconds_now() - began);
        if (i == -t->warmup)
            CUDA_CHECK(cudaMemcpy(h_first, d_loss, sizeof *h_first, cudaMemcpyDeviceToHost));
    }
    CUDA_CHECK(cudaMemcpy(h_last, d_loss, sizeof *h_last, cudaMemcpyDeviceToHost));
    qsort(times, (size_t)t->steps, sizeof *times, by_value);
    *ms = times[t->steps / 2];
    return cudaFree(d_loss);
}

static cudaError_t bench(const task *t, int on_softgpu)
{
    gpt2 *net;
    int *d_tokens;
    float first, last;
    double ms;
    CUDA_CHECK(make_tokens(&d_tokens, t));
    CUDA_CHECK(make_net(&net, t));
    CUDA_CHECK(time_steps(&ms, &first, &last, net, d_tokens, t));
    const int right = fabs(first - log(t->config.vocab)) < 0.2 && last < first;
    const double gib = (double)gpt2_device_bytes(net) / (1 << 30);
    printf("510\tbf16\t%d\t%d\t", t->batch, t->seq);
    if (right && !on_softgpu)
        printf("%.3f\t%.0f\t%.1f", ms, 1e3 * t->batch * t->seq / ms, 1e-9 * flop_of(t) / ms);
    else
        printf("\t\t");
    printf("\t%.3f\t%s\n", gib,
           right ? on_softgpu ? "right, softgpu has no times" : "right" : "WRONG");
    fflush(stdout);
    CUDA_CHECK(gpt2_free(net));
    return cudaFree(d_tokens);
}

static cudaError_t describe_machine(int *on_softgpu, const char *what)
{
    struct cudaDeviceProp p;
    int runtime = 0;
    const char *commit = getenv("COURSE_COMMIT");
    CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    *on_softgpu = strstr(p.name, "softgpu") != NULL;
    printf("# device %s, runtime %d.%d, commit %s\n", p.name, runtime / 1000, runtime % 1000 / 10,
           commit ? commit : "unknown");
    printf("# a training step of %s: forward, backward, clipping, AdamW\n", what);
    printf("what\tprecision\tbatch\tseq\tms\ttokens per second\tTFLOP/s\tGiB\tverdict\n");
    fflush(stdout);
    return cudaSuccess;
}

int main(int argc, char **argv)
{
    static const gpt_config gpt2_124m = {50257, 1024, 12, 12, 768}, tiny = {50, 16, 1, 1, 64};
    const task tasks[] = {{gpt2_124m, 4, 1024, WARMUP, STEPS},
                          {gpt2_124m, 32, 1024, WARMUP, STEPS}};
    const task small = {tiny, 1, 16, 1, 2};
    const int is_tiny = argc == 2 && strcmp(argv[1], "tiny") == 0;
    int on_softgpu;
    if (argc > 2 || (argc == 2 && !is_tiny)) {
        fprintf(stderr, "usage: %s [tiny]\n", argv[0]);
        return 2;
    }
    if (describe_machine(&on_softgpu, is_tiny ? "a tiny network" : "GPT-2 124M")) return 1;
    if (is_tiny) return bench(&small, on_softgpu) != cudaSuccess;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (bench(&tasks[i], on_softgpu)) return 1;
    return 0;
}
