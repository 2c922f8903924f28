// RIGHT: one stream for each GPU, no exchange beside the backward pass: GPU 0 gathers all gradients
// and sends their mean
#include "508_gpt/gpt.h"
#include "509_char_gpt/char_gpt.h"
#include "513_data_parallel/data_parallel.h"
#include "random.h"

#include <vector>

struct worker {
    gpt *net = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t ready = nullptr;
    float *inbox = nullptr; /* [gpt_params] on GPU 0: gradients of this one */
    float *loss = nullptr;
    int *windows = nullptr; /* [share x seq] tokens, then as many targets */
};

struct gpt_team {
    size_t n = 0;
    std::vector<worker> workers;
};

#define TRY(call)                                                                                  \
    if (cudaError_t error = (call)) return error

__global__ static void add(float *sum, const float *x, float factor, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        sum[i] = (sum[i] + x[i]) * factor;
}

static cudaError_t fill(gpt_team *team, const gpt_config *config, const float *h_params)
{
    int device = 0;
    for (worker &w : team->workers) {
        TRY(cudaSetDevice(0));
        TRY(cudaMalloc(&w.inbox, team->n * sizeof(float)));
        TRY(cudaSetDevice(device++));
        TRY(gpt_create(&w.net, config, h_params));
        TRY(cudaStreamCreate(&w.stream));
        TRY(cudaEventCreate(&w.ready));
        TRY(cudaMalloc(&w.loss, sizeof(float)));
    }
    return cudaSuccess;
}

cudaError_t gpt_team_create(gpt_team **team, const gpt_config *config, const float *h_params,
                            int gpus)
{
    int there = 0;
    *team = nullptr;
    if (!gpt_config_is_valid(config) || gpus < 1 || gpus > GPT_TEAM_MAX)
        return cudaErrorInvalidValue;
    TRY(cudaGetDeviceCount(&there));
    if (there < gpus) return cudaErrorInvalidDevice;
    gpt_team *made = new gpt_team;
    made->n = gpt_params(config);
    made->workers.resize(gpus);
    cudaError_t error = fill(made, config, h_params);
    cudaSetDevice(0);
    if (error) {
        gpt_team_free(made);
        return error;
    }
    *team = made;
    return cudaSuccess;
}

gpt *gpt_team_net(gpt_team *team, int rank)
{
    return rank >= 0 && rank < (int)team->workers.size() ? team->workers[rank].net : nullptr;
}

cudaError_t gpt_team_get_params(gpt_team *team, float *h_params, int rank)
{
    if (!gpt_team_net(team, rank)) return cudaErrorInvalidValue;
    TRY(cudaSetDevice(rank));
    cudaError_t error = gpt_get_params(team->workers[rank].net, h_params);
    cudaSetDevice(0);
    return error;
}

cudaError_t gpt_team_get_grads(gpt_team *team, float *h_grads, int rank)
{
    if (!gpt_team_net(team, rank)) return cudaErrorInvalidValue;
    TRY(cudaSetDevice(rank));
    cudaError_t error = gpt_get_grads(team->workers[rank].net, h_grads);
    cudaSetDevice(0);
    return error;
}

cudaError_t gpt_team_free(gpt_team *team)
{
    int device = 0;
    if (!team) return cudaSuccess;
    for (worker &w : team->workers) {
        cudaSetDevice(device++);
        gpt_free(w.net);
        if (w.stream) cudaStreamDestroy(w.stream);
        if (w.ready) cudaEventDestroy(w.ready);
        cudaFree(w.loss);
        cudaSetDevice(0);
        cudaFree(w.inbox);
    }
    delete team;
    return cudaSuccess;
}

/* The gradients of all, added up by GPU 0 in their order, and the mean back to all. */
static cudaError_t average(gpt_team *team)
{
    worker &first = team->workers[0];
    const int gpus = (int)team->workers.size();
    const size_t bytes = team->n * sizeof(float);
    for (int g = 1; g < gpus; g++) {
        worker &w = team->workers[g];
        TRY(cudaSetDevice(g));
        TRY(cudaMemcpyPeerAsync(w.inbox, 0, w.net->grad, g, bytes, w.stream));
        TRY(cudaEventRecord(w.ready, w.stream));
        TRY(cudaSetDevice(0));
        TRY(cudaStreamWaitEvent(first.stream, w.ready, 0));
        add<<<64, 256, 0, first.stream>>>(first.net->grad, w.inbox,
                                          g + 1 == gpus ? 1.0f / gpus : 1.0f, team->n);
    }
    for (int g = 1; g < gpus; g++)
        TRY(cudaMemcpyPeerAsync(team->workers[g].net->grad, g, first.net->grad, 0, bytes,
                                first.stream));
    TRY(cudaEventRecord(first.ready, first.stream));
    for (int g = 1; g < gpus; g++) {
        TRY(cudaSetDevice(g));
        TRY(cudaStreamWaitEvent(team->workers[g].stream, first.ready, 0));
    }
    return cudaSuccess;
}

static cudaError_t step(gpt_team *team, float *h_loss, const int *h_tokens, size_t text,
                        const gpt_training *t)
{
    const int gpus = (int)team->workers.size(), share = t->batch / gpus, rows = share * t->seq;
    const float lr = gpt_learning_rate(t, team->workers[0].net->step);
    random_state rng = random_seed(t->seed + (unsigned long long)team->workers[0].net->step);
    std::vector<int> batch(2 * (size_t)rows);
    *h_loss = 0.0f;
    for (int b = 0; b < t->rank * t->batch; b++) random_below(&rng, text - t->seq); /* of others */
    for (int g = 0; g < gpus; g++) {
        worker &w = team->workers[g];
        for (int b = 0; b < share; b++) {
            const int *window = h_tokens + random_below(&rng, text - t->seq);
            for (int i = 0; i < t->seq; i++) {
                batch[b * t->seq + i] = window[i];
                batch[rows + b * t->seq + i] = window[i + 1];
            }
        }
        float loss;
        TRY(cudaSetDevice(g));
        TRY(cudaMemcpyAsync(w.windows, batch.data(), 2 * rows * sizeof(int), cudaMemcpyHostToDevice,
                            w.stream));
        TRY(gpt_forward(w.net, w.loss, NULL, w.windows, w.windows + rows, share, t->seq, w.stream));
        TRY(gpt_backward(w.net, w.stream));
        TRY(cudaMemcpyAsync(&loss, w.loss, sizeof loss, cudaMemcpyDeviceToHost, w.stream));
        TRY(cudaStreamSynchronize(w.stream));
        *h_loss += loss / gpus;
    }
    TRY(average(team));
    for (int g = 0; g < gpus; g++) {
        TRY(cudaSetDevice(g));
        TRY(gpt_update(team->workers[g].net, lr, 0.9f, 0.95f, 1e-8f, t->weight_decay, t->max_norm,
                       team->workers[g].stream));
    }
    return cudaSuccess;
}

static cudaError_t steps_of(gpt_team *team, float *h_losses, const int *h_tokens, size_t text,
                            const gpt_training *t, int steps)
{
    const size_t rows = (size_t)t->batch / team->workers.size() * t->seq;
    for (size_t g = 0; g < team->workers.size(); g++) {
        TRY(cudaSetDevice((int)g));
        TRY(cudaMalloc(&team->workers[g].windows, 2 * rows * sizeof(int)));
    }
    for (int i = 0; i < steps; i++) TRY(step(team, h_losses + i, h_tokens, text, t));
    return cudaSuccess;
}

cudaError_t gpt_team_train(gpt_team *team, float *h_losses, const int *h_tokens, size_t count,
                           const gpt_training *training, int steps)
{
    const size_t text = count - count / 10;
    const int gpus = (int)team->workers.size();
    if (training->batch < 1 || training->batch % gpus || training->seq < 1 ||
        training->seq > team->workers[0].net->config.context || text <= (size_t)training->seq)
        return cudaErrorInvalidValue;
    cudaError_t error = steps_of(team, h_losses, h_tokens, text, training, steps);
    for (int g = 0; g < gpus; g++) {
        cudaSetDevice(g);
        cudaError_t over = cudaDeviceSynchronize();
        if (!error) error = over;
        cudaFree(team->workers[g].windows);
        team->workers[g].windows = nullptr;
    }
    cudaSetDevice(0);
    return error;
}
