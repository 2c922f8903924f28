/*
 * team.c: training on several GPUs (make gpt GPUS=2), by 513. The network that the program knows is
 * that of GPU 0; a checkpoint that is read goes to the others too. Several processes train it
 * together, each with its team; rank 0 alone writes.
 */
#include "../program.h"
#include "cuda_check.h"
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int gpus;
    gpt_team *team;
} kept; /* one network a program */

static cudaError_t create(gpt **net, const gpt_config *config, const float *h_params)
{
    int devices = 0;
    *net = NULL;
    CUDA_CHECK(cudaGetDeviceCount(&devices));
    if (kept.gpus > devices) {
        fprintf(stderr, "gpt: --gpus %d: there are %d\n", kept.gpus, devices);
        return cudaErrorInvalidDevice;
    }
    CUDA_CHECK(gpt_team_create(&kept.team, config, h_params, kept.gpus));
    *net = gpt_team_net(kept.team, 0);
    return cudaSuccess;
}

static unsigned long long hash_of(const float *x, size_t n)
{
    unsigned long long hash = 0xcbf29ce484222325;
    for (const unsigned char *b = (const unsigned char *)x, *end = b + n * sizeof *x; b < end; b++)
        hash = (hash ^ *b) * 0x100000001b3;
    return hash;
}

/* All ranks must have the same bits. */
static cudaError_t compare_params(void)
{
    const size_t n = gpt_params(&gpt_team_net(kept.team, 0)->config);
    float *params = malloc(n * sizeof *params);
    cudaError_t error = params ? cudaSuccess : cudaErrorMemoryAllocation;
    if (!error) error = gpt_team_get_params(kept.team, params, 0);
    const unsigned long long own = error ? 0 : hash_of(params, n);
    unsigned long long first = own;
    free(params);
    if (!error && !ranks_share(&first, sizeof first)) error = cudaErrorUnknown;
    if (error || first == own) return error;
    fprintf(stderr, "gpt: rank %d: its parameters are not those of rank 0\n", ranks_number());
    return cudaErrorUnknown;
}

static cudaError_t train_team(gpt *net, float *h_losses, const int *h_tokens, size_t count,
                              const gpt_training *t, int steps, cudaStream_t stream)
{
    (void)net, (void)stream;
    gpt_training own = *t;
    own.batch = t->batch / ranks_count();
    own.rank = ranks_number();
    CUDA_CHECK(gpt_team_train(kept.team, h_losses, h_tokens, count, &own, steps));
    if (ranks_count() == 1) return cudaSuccess;
    return ranks_mean(h_losses, steps) ? compare_params() : cudaErrorUnknown;
}

static cudaError_t load(gpt *net, weights_status *h_status, const void *h_file, size_t bytes)
{
    cudaError_t error = cudaSuccess;
    (void)net;
    for (int g = kept.gpus - 1; g >= 0 && !error; g--) { /* the last is that of GPU 0 */
        CUDA_CHECK(cudaSetDevice(g));
        error = gpt_load(gpt_team_net(kept.team, g), h_status, h_file, bytes);
    }
    CUDA_CHECK(cudaSetDevice(0));
    return error;
}

static cudaError_t release(gpt *net)
{
    (void)net;
    return gpt_team_free(kept.team);
}

/* Rank 0 is there; where all others are, it says for a while in a file beside the checkpoint. */
static bool open_ranks(const options *o)
{
    const gpt_config *c = &o->config;
    const gpt_training *t = &o->training;
    const ranks_size sizes[] = {{"GPUs", o->gpus},
                                {"layers", c->layers},
                                {"heads", c->heads},
                                {"channels", c->channels},
                                {"tokens of context", c->context},
                                {"windows of a batch", t->batch},
                                {"steps", t->steps},
                                {"steps between two looks", o->every},
                                {"as its seed", (long)t->seed}};
    const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
    char meeting[4096];
    snprintf(meeting, sizeof meeting, "%s.ranks-%s.%s", o->checkpoint, job ? job : "0",
             step ? step : "0");
    return ranks_open(meeting, sizes, sizeof sizes / sizeof *sizes);
}

static bool refuse_ranks(const options *o)
{
    const int gpus = ranks_count() * o->gpus;
    if (ranks_count() > 1 && strcmp(o->comm, "nccl") != 0)
        fputs("gpt: --comm ring: of one process; of several, --comm nccl\n", stderr);
    else if (o->training.batch % gpus != 0)
        fprintf(stderr, "gpt: --gpus: all %d of them must divide the batch\n", gpus);
    else
        return false;
    return true;
}

const gpt_functions *functions_of_team(const options *o)
{
    static gpt_functions functions = {.create = create,
                                      .train = train_team,
                                      .validate = gpt_validate,
                                      .generate = gpt_generate,
                                      .save = gpt_save,
                                      .load = load,
                                      .release = release,
                                      .bytes = bytes_on_gpu,
                                      .finish = ranks_close};
    kept.gpus = o->gpus;
    functions.rank = ranks_number();
    functions.ranks = ranks_count();
    if (refuse_ranks(o) || !open_ranks(o)) return NULL;
    if (strcmp(o->comm, "nccl") == 0 && !open_nccl(o->gpus)) return NULL;
    return functions.rank > 0 && !freopen("/dev/null", "w", stdout) ? NULL : &functions;
}
