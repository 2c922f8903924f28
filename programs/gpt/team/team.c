/*
 * team.c: training on several GPUs (make gpt GPUS=2), by 513. The network that the program knows is
 * that of GPU 0; what is read from a checkpoint goes to the others too.
 */
#include "../program.h"
#include "cuda_check.h"

#include <stdio.h>

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

static cudaError_t train_team(gpt *net, float *h_losses, const int *h_tokens, size_t count,
                              const gpt_training *t, int steps, cudaStream_t stream)
{
    (void)net, (void)stream;
    return gpt_team_train(kept.team, h_losses, h_tokens, count, t, steps);
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

const gpt_functions *functions_of_team(int gpus)
{
    static const gpt_functions functions = {.create = create,
                                            .train = train_team,
                                            .validate = gpt_validate,
                                            .generate = gpt_generate,
                                            .save = gpt_save,
                                            .load = load,
                                            .release = release,
                                            .bytes = bytes_on_gpu};
    kept.gpus = gpus;
    return &functions;
}
