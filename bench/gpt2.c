/*
 * gpt2.c: a training step in tokens per second, next to PyTorch where a python3 has it: 510's in
 * bf16, and 508's with fp32's accuracy, its linear layers by 4g (gpt2_layers.cu), its attention in
 * the same way (gpt2_attention.cu).
 *
 *   bench_gpt2 [tiny]     TSV on stdout
 *
 * The two halves of a step are timed too: forward alone, and backward as what both take beyond it.
 * gpt2_halves.cu has those of 510. On one core of a CPU it is the network of programs/gpt, with a
 * shorter text, and fewer steps.
 *
 * The network is GPT-2 124M with random parameters and random tokens, 1,024 of them a sequence; a
 * step is forward, backward, clipping and AdamW. Its time is the median of STEPS after WARMUP, by
 * the host's clock from an idle device until it is idle again. flop are those of the products, 6 a
 * parameter that is multiplied and token, and of attention below its diagonal. GiB are the device
 * memory in use at the end of the steps; the pool of its streams keeps all that it ever had, so
 * this is the most that a step holds. 508's vocabulary is the next multiple of 4, because 4g needs
 * rows of 16 aligned bytes. tiny: a network that softgpu can train, which has no times; that its
 * loss falls is checked.
 */
#define _GNU_SOURCE
#include "cuda_check.h"
#include "network.h"
#include "../programs/gpt/program.h"
#include "random.h"
#include "timer.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARMUP 3
#define STEPS  15

typedef struct task {
    const struct network *net;
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

/* ---- two networks ---------------------------------------------------------------------------- */

#define LR      1e-3f
#define ADAM    0.9f, 0.95f, 1e-8f, 0.1f /* beta 1 and 2, epsilon, decay */
#define LARGEST 1.0f                     /* norm of the gradients */

typedef struct network {
    const char *name, *precision;
    int padding; /* the vocabulary is a multiple of it */
    cudaError_t (*create)(void **net, const task *t, const float *h_params);
    cudaError_t (*step)(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                        const task *t);
    cudaError_t (*release)(void *net);
    /* Both may be NULL. A pass is forward and backward. */
    cudaError_t (*forward)(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                           const task *t);
    cudaError_t (*pass)(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                        const task *t);
} network;

static cudaError_t create_510(void **net, const task *t, const float *h_params)
{
    return gpt2_create((gpt2 **)net, &t->config, h_params, t->batch, t->seq);
}

static cudaError_t step_510(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                            const task *t)
{
    (void)t;
    return gpt2_train_step(net, d_loss, d_tokens, d_targets, LR, ADAM, LARGEST, NULL);
}

cudaError_t gpt2_forward(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets);
cudaError_t gpt2_pass(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets);

static cudaError_t forward_510(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                               const task *t)
{
    (void)t;
    return gpt2_forward(net, d_loss, d_tokens, d_targets);
}

static cudaError_t pass_510(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                            const task *t)
{
    (void)t;
    return gpt2_pass(net, d_loss, d_tokens, d_targets);
}

static cudaError_t release_510(void *net)
{
    return gpt2_free(net);
}

static cudaError_t create_508(void **net, const task *t, const float *h_params)
{
    return gpt_create((gpt **)net, &t->config, h_params);
}

static cudaError_t forward_508(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                               const task *t)
{
    return gpt_forward(net, d_loss, NULL, d_tokens, d_targets, t->batch, t->seq, NULL);
}

static cudaError_t pass_508(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                            const task *t)
{
    CUDA_CHECK(forward_508(net, d_loss, d_tokens, d_targets, t));
    return gpt_backward(net, NULL);
}

static cudaError_t step_508(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                            const task *t)
{
    CUDA_CHECK(pass_508(net, d_loss, d_tokens, d_targets, t));
    return gpt_update(net, LR, ADAM, LARGEST, NULL);
}

static cudaError_t release_508(void *net)
{
    return gpt_free(net);
}

/* Of programs/gpt, from tokens on the device. */
static cudaError_t create_cpu(void **net, const task *t, const float *h_params)
{
    return functions_on_cpu()->create((gpt **)net, &t->config, h_params);
}

static cudaError_t step_cpu(void *net, float *d_loss, const int *d_tokens, const int *d_targets,
                            const task *t)
{
    gpt_training training = {.batch = 1,
                             .seq = t->seq,
                             .steps = 1000,
                             .lr = LR,
                             .last_lr = LR,
                             .weight_decay = 0.1f,
                             .max_norm = LARGEST};
    const size_t begin = 0;
    float loss;
    int *text = malloc((size_t)(t->seq + 1) * sizeof *text);
    (void)d_targets; /* the next tokens */
    if (text == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error =
        cudaMemcpy(text, d_tokens, (size_t)(t->seq + 1) * sizeof *text, cudaMemcpyDeviceToHost);
    if (!error) error = functions_on_cpu()->step(net, &loss, text, &begin, &training);
    free(text);
    return error ? error : cudaMemcpy(d_loss, &loss, sizeof loss, cudaMemcpyHostToDevice);
}

static cudaError_t release_cpu(void *net)
{
    return functions_on_cpu()->release(net);
}

static const network net_510 = {"510",    "bf16",      1,           create_510,
                                step_510, release_510, forward_510, pass_510},
                     net_508 = {"508 on 4g", "fp32",      4,           create_508,
                                step_508,    release_508, forward_508, pass_508},
                     net_cpu = {"one core of a CPU", "fp32", 1,   create_cpu, step_cpu,
                                release_cpu,         NULL,   NULL};

static cudaError_t make_net(void **net, const task *t)
{
    float *h_params = malloc(gpt_params(&t->config) * sizeof *h_params);
    if (h_params == NULL) return cudaErrorMemoryAllocation;
    gpt_init(h_params, &t->config, 2);
    const cudaError_t error = t->net->create(net, t, h_params);
    free(h_params);
    return error;
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* Forward and backward. */
static double flop_of(const task *t)
{
    const double C = t->config.channels, tokens = (double)t->batch * t->seq;
    const double multiplied = t->config.layers * 12 * C * C + t->config.vocab * C;
    return tokens * (6 * multiplied + 3 * 2 * t->seq * C * t->config.layers);
}

/* Bytes that the device has lent, once its pool has given back what nobody holds. */
static cudaError_t lent_bytes(size_t *lent, int trim)
{
    cudaMemPool_t pool;
    size_t available, all;
    uint64_t keep = UINT64_MAX;
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    if (trim) CUDA_CHECK(cudaMemPoolTrimTo(pool, 0));
    CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    CUDA_CHECK(cudaMemGetInfo(&available, &all));
    *lent = all - available;
    return cudaSuccess;
}

static double median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, by_value);
    return times[count / 2];
}

/* @param ms [1] the median */
static cudaError_t time_steps(double *ms, float *h_first, float *h_last, void *net, float *d_loss,
                              const int *d_tokens, const task *t)
{
    double times[STEPS];
    for (int i = -t->warmup; i < t->steps; i++) {
        CUDA_CHECK(cudaDeviceSynchronize());
        const double began = seconds_now();
        CUDA_CHECK(t->net->step(net, d_loss, d_tokens, d_tokens + t->batch * t->seq, t));
        CUDA_CHECK(cudaDeviceSynchronize());
        if (i >= 0) times[i] = 1e3 * (seconds_now() - began);
        if (i == -t->warmup)
            CUDA_CHECK(cudaMemcpy(h_first, d_loss, sizeof *h_first, cudaMemcpyDeviceToHost));
    }
    CUDA_CHECK(cudaMemcpy(h_last, d_loss, sizeof *h_last, cudaMemcpyDeviceToHost));
    *ms = median(times, t->steps);
    return cudaSuccess;
}

static cudaError_t time_half(double *ms, __typeof__(net_508.forward) run, void *net, float *d_loss,
                             const int *d_tokens, const task *t)
{
    double times[STEPS];
    for (int i = 0; i < t->steps; i++) {
        CUDA_CHECK(cudaDeviceSynchronize());
        const double began = seconds_now();
        CUDA_CHECK(run(net, d_loss, d_tokens, d_tokens + t->batch * t->seq, t));
        CUDA_CHECK(cudaDeviceSynchronize());
        times[i] = 1e3 * (seconds_now() - began);
    }
    *ms = median(times, t->steps);
    return cudaSuccess;
}

/* @param ms of forward and backward, of a network that is warm */
static cudaError_t time_halves(double ms[2], void *net, float *d_loss, const int *d_tokens,
                               const task *t)
{
    ms[0] = ms[1] = 0.0;
    if (t->net->forward == NULL) return cudaSuccess;
    CUDA_CHECK(time_half(&ms[0], t->net->forward, net, d_loss, d_tokens, t));
    CUDA_CHECK(time_half(&ms[1], t->net->pass, net, d_loss, d_tokens, t));
    ms[1] -= ms[0];
    return cudaSuccess;
}

static void print_ms(double ms)
{
    if (ms > 0) printf("%.3f", ms);
    putchar('\t');
}

static void print_row(const task *t, const double ms[3], size_t bytes, int right, int on_softgpu)
{
    const int timed = right && !on_softgpu;
    printf("%s\t%s\t%d\t%d\t", t->net->name, t->net->precision, t->batch, t->seq);
    for (int i = 0; i < 3; i++) print_ms(timed ? ms[i] : 0.0);
    if (timed)
        printf("%.0f\t%.1f", 1e3 * t->batch * t->seq / ms[0], 1e-9 * flop_of(t) / ms[0]);
    else
        printf("\t");
    printf("\t%.3f\t%s\n", (double)bytes / (1 << 30),
           right ? on_softgpu ? "right, softgpu has no times" : "right" : "WRONG");
    fflush(stdout);
}

static cudaError_t bench(task t, int on_softgpu)
{
    const int padding = t.net->padding;
    void *net;
    int *d_tokens;
    size_t before, after;
    float first, last, *d_loss;
    double ms[3];
    t.config.vocab = (t.config.vocab + padding - 1) / padding * padding;
    CUDA_CHECK(lent_bytes(&before, 1));
    CUDA_CHECK(make_tokens(&d_tokens, &t));
    CUDA_CHECK(make_net(&net, &t));
    CUDA_CHECK(cudaMalloc((void **)&d_loss, sizeof *d_loss));
    CUDA_CHECK(time_steps(&ms[0], &first, &last, net, d_loss, d_tokens, &t));
    CUDA_CHECK(time_halves(ms + 1, net, d_loss, d_tokens, &t));
    CUDA_CHECK(lent_bytes(&after, 0));
    const int right = fabs(first - gpt_first_loss(&t.config)) < 0.1 && last < first;
    print_row(&t, ms, after - before + functions_on_cpu()->bytes(), right, on_softgpu);
    CUDA_CHECK(t.net->release(net));
    CUDA_CHECK(cudaFree(d_loss));
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
    printf("what\tprecision\tbatch\tseq\tms\tforward_ms\tbackward_ms\ttokens per "
           "second\tTFLOP/s\tGiB\tverdict\n");
    fflush(stdout);
    return cudaSuccess;
}

int main(int argc, char **argv)
{
    static const gpt_config gpt2_124m = {50257, 1024, 12, 12, 768}, tiny = {50, 16, 1, 1, 64};
    const task tasks[] = {{&net_508, gpt2_124m, 4, 1024, WARMUP, STEPS},
                          {&net_510, gpt2_124m, 4, 1024, WARMUP, STEPS},
                          {&net_510, gpt2_124m, 32, 1024, WARMUP, STEPS},
                          {&net_cpu, gpt2_124m, 1, 256, 1, 1}};
    const task small[] = {{&net_508, tiny, 1, 16, 1, 2},
                          {&net_510, tiny, 1, 16, 1, 2},
                          {&net_cpu, tiny, 1, 15, 1, 2}};
    const int is_tiny = argc == 2 && strcmp(argv[1], "tiny") == 0;
    int on_softgpu;
    if (argc > 2 || (argc == 2 && !is_tiny)) {
        fprintf(stderr, "usage: %s [tiny]\n", argv[0]);
        return 2;
    }
    if (describe_machine(&on_softgpu, is_tiny ? "a tiny network" : "GPT-2 124M")) return 1;
    for (size_t i = 0; is_tiny && i < sizeof small / sizeof *small; i++)
        if (bench(small[i], on_softgpu)) return 1;
    for (size_t i = 0; !is_tiny && i < sizeof tasks / sizeof *tasks; i++)
        if (bench(tasks[i], on_softgpu)) return 1;
    return 0;
}
