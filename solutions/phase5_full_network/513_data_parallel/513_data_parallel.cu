/*
 * 513_data_parallel.cu: one GPT on several GPUs, each with its share of every batch.
 *
 * The idea: the loss is a mean over windows, and the gradient of a mean is the mean of the
 * gradients. So each GPU keeps the whole network, goes forward and back with its share of the
 * windows, and the all-reduce of 415 computes the mean of all gradients, with the same bits on
 * every GPU. Then each makes the same update. Networks that were equal stay equal, and their
 * parameters are never sent.
 *
 * The exchange need not wait for the end of the backward pass, which goes from the last layer to
 * the first: a layer's gradients are complete long before those of the layers before it. So each
 * GPU has two streams, and events order them:
 *
 *     compute   forward │ back 2 │ back 1 │ back 0 │ embedding │          │ update
 *                                ╲        ╲        ╲           ╲          ╱
 *     exchange                    │ mean 2 │ mean 1 │ mean 0    │ the rest │
 *
 * What it costs: every GPU has all parameters, gradients, m and v, and sends 2 (N - 1) / N of its
 * gradients in each step. The time of that is hidden where the backward pass takes longer. The last
 * part never is: the tables of tokens and positions are complete only at the end.
 */
#include "415_allreduce_ring/allreduce_ring.h"
#include "508_gpt/gpt.h"
#include "509_char_gpt/char_gpt.h"
#include "513_data_parallel/data_parallel.h"
#include "cuda_check.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include "random.h"

#include <stdlib.h>

#define BETA1   0.9f
#define BETA2   0.95f
#define EPSILON 1e-8f

/* What one GPU has. */
typedef struct member {
    gpt *net;
    cudaStream_t compute, exchange;
    cudaEvent_t *layer_done; /* [layers] the gradients of this layer are complete */
    cudaEvent_t all_done;    /* the backward pass is over */
    cudaEvent_t exchanged;   /* the gradients are the mean of all GPUs */

    /* Of the run in hand: */
    int *text;             /* [training tokens] */
    int *begins;           /* [steps x batch] where each window begins: those of all GPUs */
    int *tokens, *targets; /* [share x seq] each */
    float *losses;         /* [steps] of this GPU's windows */
} member;

struct gpt_team {
    int gpus, layers;
    allreduce *ring;
    member members[GPT_TEAM_MAX];
};

/* ---- a team ---------------------------------------------------------------------------------- */

static cudaError_t create_member(member *m, const gpt_config *config, const float *h_params)
{
    CUDA_CHECK(gpt_create(&m->net, config, h_params));
    CUDA_CHECK(cudaStreamCreateWithFlags(&m->compute, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&m->exchange, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&m->all_done, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&m->exchanged, cudaEventDisableTiming));
    m->layer_done = (cudaEvent_t *)calloc(config->layers, sizeof *m->layer_done);
    if (m->layer_done == NULL) return cudaErrorMemoryAllocation;
    for (int i = 0; i < config->layers; i++)
        CUDA_CHECK(cudaEventCreateWithFlags(&m->layer_done[i], cudaEventDisableTiming));
    m->net->layer_done = m->layer_done;
    return cudaSuccess;
}

static void free_member(member *m, int layers)
{
    gpt_free(m->net);
    if (m->compute != NULL) cudaStreamDestroy(m->compute);
    if (m->exchange != NULL) cudaStreamDestroy(m->exchange);
    if (m->all_done != NULL) cudaEventDestroy(m->all_done);
    if (m->exchanged != NULL) cudaEventDestroy(m->exchanged);
    for (int i = 0; m->layer_done != NULL && i < layers; i++)
        if (m->layer_done[i] != NULL) cudaEventDestroy(m->layer_done[i]);
    free(m->layer_done);
}

static cudaError_t set_up(gpt_team *team, const gpt_config *config, const float *h_params)
{
    CUDA_CHECK(allreduce_open(&team->ring, team->gpus));
    for (int g = 0; g < team->gpus; g++) {
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(create_member(&team->members[g], config, h_params));
    }
    return cudaSuccess;
}

cudaError_t gpt_team_create(gpt_team **team, const gpt_config *config, const float *h_params,
                            int gpus)
{
    int current;
    *team = NULL;
    /* SOLUTION: refuse what the contract says, before anything is made (about 5 lines). */
    int devices;
    if (gpus < 1 || gpus > GPT_TEAM_MAX || !gpt_config_is_valid(config))
        return cudaErrorInvalidValue;
    CUDA_CHECK(cudaGetDeviceCount(&devices));
    if (gpus > devices) return cudaErrorInvalidDevice;
    /* END SOLUTION */
    CUDA_CHECK(cudaGetDevice(&current));
    gpt_team *created = (gpt_team *)calloc(1, sizeof *created);
    if (created == NULL) return cudaErrorMemoryAllocation;
    created->gpus = gpus;
    created->layers = config->layers;
    cudaError_t error = set_up(created, config, h_params);
    if (error != cudaSuccess) gpt_team_free(created);
    CUDA_CHECK(cudaSetDevice(current));
    if (error == cudaSuccess) *team = created;
    return error;
}

gpt *gpt_team_net(gpt_team *team, int rank)
{
    return rank < 0 || rank >= team->gpus ? NULL : team->members[rank].net;
}

/* What `get` fetches from the network of one GPU. */
static cudaError_t fetch(gpt_team *team, int rank, float *h_array,
                         cudaError_t (*get)(gpt *, float *))
{
    int current;
    if (gpt_team_net(team, rank) == NULL) return cudaErrorInvalidValue;
    CUDA_CHECK(cudaGetDevice(&current));
    CUDA_CHECK(cudaSetDevice(rank));
    CUDA_CHECK(get(team->members[rank].net, h_array));
    CUDA_CHECK(cudaSetDevice(current));
    return cudaSuccess;
}

cudaError_t gpt_team_get_params(gpt_team *team, float *h_params, int rank)
{
    return fetch(team, rank, h_params, gpt_get_params);
}

cudaError_t gpt_team_get_grads(gpt_team *team, float *h_grads, int rank)
{
    return fetch(team, rank, h_grads, gpt_get_grads);
}

cudaError_t gpt_team_free(gpt_team *team)
{
    int current = 0;
    if (team == NULL) return cudaSuccess;
    cudaGetDevice(&current);
    for (int g = 0; g < team->gpus; g++) {
        cudaSetDevice(g);
        free_member(&team->members[g], team->layers);
    }
    allreduce_close(team->ring);
    free(team);
    cudaSetDevice(current);
    return cudaGetLastError();
}

/* ---- the data of a run ----------------------------------------------------------------------- */

/* @return [steps x batch] as 509 draws them; the caller frees it. NULL without memory. */
static int *draw_windows(const gpt_training *t, size_t choices, int first_step, int steps)
{
    int *begins = (int *)calloc((size_t)steps * t->batch, sizeof *begins);
    for (int i = 0; begins != NULL && i < steps; i++) {
        random_state rng = random_seed(t->seed + (unsigned long long)(first_step + i));
        for (int b = -t->rank * t->batch; b < t->batch; b++) { /* below 0: of processes before */
            const int begin = (int)random_below(&rng, choices);
            if (b >= 0) begins[(size_t)i * t->batch + b] = begin;
        }
    }
    return begins;
}

static cudaError_t load(member *m, const int *h_text, size_t count, const int *h_begins, int steps,
                        const gpt_training *t, int share)
{
    size_t rows = (size_t)share * t->seq * sizeof(int);
    size_t number = (size_t)steps * t->batch * sizeof(int);
    CUDA_CHECK(cudaMalloc((void **)&m->text, count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&m->begins, number));
    CUDA_CHECK(cudaMalloc((void **)&m->tokens, rows));
    CUDA_CHECK(cudaMalloc((void **)&m->targets, rows));
    CUDA_CHECK(cudaMalloc((void **)&m->losses, steps * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(m->text, h_text, count * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(m->begins, h_begins, number, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize()); /* the streams do not wait for the default one */
    return cudaSuccess;
}

static void unload(member *m)
{
    int **arrays[] = {&m->text, &m->begins, &m->tokens, &m->targets};
    for (int i = 0; i < 4; i++) {
        cudaFree(*arrays[i]);
        *arrays[i] = NULL;
    }
    cudaFree(m->losses);
    m->losses = NULL;
}

/* Block b copies the window that begins at text[begins[b]] to row b of tokens and of targets,
 * [gridDim.x x seq] each. */
__global__ static void gather_kernel(int *tokens, int *targets, const int *text, const int *begins,
                                     int seq)
{
    size_t row = (size_t)blockIdx.x * seq;
    const int *window = text + begins[blockIdx.x];
    for (int i = threadIdx.x; i < seq; i += blockDim.x) {
        tokens[row + i] = window[i];
        targets[row + i] = window[i + 1];
    }
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Forward and back on GPU number g, with its share of the windows of step i of this run. The loss
 * goes to losses[i] of this GPU; all_done is recorded behind the backward pass. Only enqueued. */
static cudaError_t go_back(gpt_team *team, int g, int i, const gpt_training *t)
{
    int share = t->batch / team->gpus;
    /* SOLUTION: make g the current device; gather share windows: those of step i begin at
       m->begins + i x t->batch, those of this GPU g x share further; 508's forward pass, without
       logits, and its backward pass; record all_done. All of it in m->compute (about 9 lines). */
    member *m = &team->members[g];
    const int *begins = m->begins + (size_t)i * t->batch + g * share;
    CUDA_CHECK(cudaSetDevice(g));
    gather_kernel<<<share, 256, 0, m->compute>>>(m->tokens, m->targets, m->text, begins, t->seq);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(
        gpt_forward(m->net, m->losses + i, NULL, m->tokens, m->targets, share, t->seq, m->compute));
    CUDA_CHECK(gpt_backward(m->net, m->compute));
    CUDA_CHECK(cudaEventRecord(m->all_done, m->compute));
    /* END SOLUTION */
    return cudaSuccess;
}

/* The gradients [begin, end) of all GPUs become their mean, in the exchange streams. */
static cudaError_t mean_of(gpt_team *team, size_t begin, size_t end)
{
    float *gradients[GPT_TEAM_MAX];
    cudaStream_t streams[GPT_TEAM_MAX];
    /* SOLUTION: where these gradients lie on each GPU, and its exchange stream; 415 (about 5
       lines). */
    for (int g = 0; g < team->gpus; g++) {
        gradients[g] = team->members[g].net->grad + begin;
        streams[g] = team->members[g].exchange;
    }
    CUDA_CHECK(allreduce_ring(team->ring, gradients, end - begin, ALLREDUCE_MEAN, streams));
    /* END SOLUTION */
    return cudaSuccess;
}

/* The exchange stream of each GPU waits for this event of it: that of a layer, or, at `layers`, the
 * end of the backward pass. */
static cudaError_t wait_for(gpt_team *team, int layer)
{
    /* SOLUTION: cudaStreamWaitEvent, on the device that the stream belongs to (about 6 lines). */
    for (int g = 0; g < team->gpus; g++) {
        member *m = &team->members[g];
        CUDA_CHECK(cudaSetDevice(g));
        cudaEvent_t event = layer == team->layers ? m->all_done : m->layer_done[layer];
        CUDA_CHECK(cudaStreamWaitEvent(m->exchange, event, 0));
    }
    /* END SOLUTION */
    return cudaSuccess;
}

/* All gradients become the mean of all GPUs, each part as soon as it is complete. Behind it the
 * compute streams go on. Only enqueued. */
static cudaError_t exchange(gpt_team *team)
{
    const gpt_config *c = &team->members[0].net->config;
    size_t first_layer = gpt_layer_at(c, 0).ln1_w, behind_layers = gpt_lnf_w(c);
    /* SOLUTION: from the last layer to the first: wait for it, and the mean of its gradients, which
       reach to the next layer's ln1_w, or to behind_layers. Then wait for the end, and the mean of
       what stands before the first layer and behind the last. Record `exchanged` in each exchange
       stream, and let the compute stream wait for it (about 16 lines). */
    size_t end = behind_layers;
    for (int i = team->layers - 1; i >= 0; i--) {
        size_t begin = gpt_layer_at(c, i).ln1_w;
        CUDA_CHECK(wait_for(team, i));
        CUDA_CHECK(mean_of(team, begin, end));
        end = begin;
    }
    CUDA_CHECK(wait_for(team, team->layers));
    CUDA_CHECK(mean_of(team, 0, first_layer));
    CUDA_CHECK(mean_of(team, behind_layers, gpt_params(c)));
    for (int g = 0; g < team->gpus; g++) {
        member *m = &team->members[g];
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaEventRecord(m->exchanged, m->exchange));
        CUDA_CHECK(cudaStreamWaitEvent(m->compute, m->exchanged, 0));
    }
    /* END SOLUTION */
    return cudaSuccess;
}

/* The same update on every GPU. Only enqueued. */
static cudaError_t update(gpt_team *team, const gpt_training *t)
{
    /* SOLUTION: the rate of the step that the networks are at (509); on each device 508's update,
       with BETA1, BETA2 and EPSILON (about 6 lines). */
    float lr = gpt_learning_rate(t, team->members[0].net->step);
    for (int g = 0; g < team->gpus; g++) {
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(gpt_update(team->members[g].net, lr, BETA1, BETA2, EPSILON, t->weight_decay,
                              t->max_norm, team->members[g].compute));
    }
    /* END SOLUTION */
    return cudaSuccess;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static cudaError_t train_steps(gpt_team *team, const gpt_training *t, int steps)
{
    /* SOLUTION: each step: forward and back on every GPU, the exchange, the update. The host waits
       for nothing (about 5 lines). */
    for (int i = 0; i < steps; i++) {
        for (int g = 0; g < team->gpus; g++) CUDA_CHECK(go_back(team, g, i, t));
        CUDA_CHECK(exchange(team));
        CUDA_CHECK(update(team, t));
    }
    /* END SOLUTION */
    return cudaSuccess;
}

/* h_losses[steps] of all windows, from those of each GPU; `own` has room for [steps]. Waits. */
static cudaError_t collect(gpt_team *team, float *h_losses, float *own, int steps)
{
    for (int g = 0; g < team->gpus; g++) {
        member *m = &team->members[g];
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaMemcpyAsync(own, m->losses, steps * sizeof *own, cudaMemcpyDeviceToHost,
                                   m->compute));
        CUDA_CHECK(cudaStreamSynchronize(m->compute));
        /* SOLUTION: each GPU has as many windows: add its part of the mean to h_losses, which are
           the first GPU's to begin (about 4 lines). */
        for (int i = 0; i < steps; i++) {
            if (g == 0) h_losses[i] = 0.0f;
            h_losses[i] += own[i] / (float)team->gpus;
        }
        /* END SOLUTION */
    }
    return cudaSuccess;
}

static cudaError_t run(gpt_team *team, float *h_losses, const int *h_text, size_t count,
                       const int *h_begins, const gpt_training *t, int steps)
{
    for (int g = 0; g < team->gpus; g++) {
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(
            load(&team->members[g], h_text, count, h_begins, steps, t, t->batch / team->gpus));
    }
    CUDA_CHECK(train_steps(team, t, steps));
    float *own = (float *)malloc((size_t)steps * sizeof *own);
    cudaError_t error =
        own == NULL ? cudaErrorMemoryAllocation : collect(team, h_losses, own, steps);
    free(own);
    return error;
}

cudaError_t gpt_team_train(gpt_team *team, float *h_losses, const int *h_tokens, size_t count,
                           const gpt_training *training, int steps)
{
    const gpt_training *t = training;
    const gpt *net = team->members[0].net;
    size_t text = count - count / 10;
    int current;
    if (t->batch < 1 || t->batch % team->gpus != 0 || t->seq < 1 || t->seq > net->config.context ||
        text <= (size_t)t->seq)
        return cudaErrorInvalidValue;
    if (steps == 0) return cudaSuccess;
    CUDA_CHECK(cudaGetDevice(&current));
    int *h_begins = draw_windows(t, text - t->seq, net->step, steps);
    if (h_begins == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = run(team, h_losses, h_tokens, text, h_begins, t, steps);
    for (int g = 0; g < team->gpus; g++) {
        cudaSetDevice(g);
        cudaError_t over = cudaDeviceSynchronize(); /* what is left may still use the arrays */
        if (error == cudaSuccess) error = over;
        unload(&team->members[g]);
    }
    cudaSetDevice(current);
    free(h_begins);
    return error;
}
