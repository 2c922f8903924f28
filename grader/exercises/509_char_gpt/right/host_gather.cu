// RIGHT: batches are gathered on the host and carried over in every step; keys and values lie in
// one array by heads, [layers x heads x 2 x context x dim], and a block a head attends in one
// kernel
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "304_softmax/softmax.h"
#include "311_layernorm/layernorm.h"
#include "312_embedding/embedding.h"
#include "508_gpt/gpt.h"
#include "509_char_gpt/char_gpt.h"
#include "random.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Carries on with the first error, which is returned at the end. */
#define THEN(call)                                                                                 \
    do {                                                                                           \
        if (error == cudaSuccess) error = (call);                                                  \
    } while (0)

float gpt_learning_rate(const gpt_training *t, int step)
{
    double x = (double)(step - t->warmup) / (t->steps > t->warmup ? t->steps - t->warmup : 1);
    if (step < t->warmup) return (float)((step + 1.0) / t->warmup * t->lr);
    if (step >= t->steps) return t->last_lr;
    x = cos(x * acos(-1.0)) / 2 + 0.5;
    return (float)(x * t->lr + (1 - x) * t->last_lr);
}

/* A batch in the making: on the host, and its copies. */
typedef struct carrier {
    int *h_rows, *d_rows; /* [2][batch x seq]: tokens, then targets */
    float *d_loss;
    size_t rows;
} carrier;

static cudaError_t pack(carrier *c, int batch, int seq)
{
    c->rows = (size_t)batch * seq;
    cudaError_t error = cudaMallocHost((void **)&c->h_rows, 2 * c->rows * sizeof(int));
    THEN(cudaMalloc((void **)&c->d_rows, 2 * c->rows * sizeof(int)));
    THEN(cudaMalloc((void **)&c->d_loss, sizeof(float)));
    return error;
}

static void unpack(carrier *c)
{
    cudaFreeHost(c->h_rows);
    cudaFree(c->d_rows);
    cudaFree(c->d_loss);
}

static void put(carrier *c, size_t row, const int *window, int seq)
{
    memcpy(c->h_rows + row * seq, window, seq * sizeof(int));
    memcpy(c->h_rows + c->rows + row * seq, window + 1, seq * sizeof(int));
}

static cudaError_t run(gpt *net, float *h_loss, const carrier *c, int batch, int seq,
                       cudaStream_t stream)
{
    cudaError_t error = cudaMemcpyAsync(c->d_rows, c->h_rows, 2 * c->rows * sizeof(int),
                                        cudaMemcpyHostToDevice, stream);
    THEN(gpt_forward(net, c->d_loss, NULL, c->d_rows, c->d_rows + c->rows, batch, seq, stream));
    THEN(cudaMemcpyAsync(h_loss, c->d_loss, sizeof(float), cudaMemcpyDeviceToHost, stream));
    THEN(cudaStreamSynchronize(stream));
    return error;
}

cudaError_t gpt_train(gpt *net, float *h_losses, const int *h_tokens, size_t count,
                      const gpt_training *t, int steps, cudaStream_t stream)
{
    size_t mine = count - count / 10;
    if (t->batch <= 0 || t->seq <= 0 || net->config.context < t->seq || mine < (size_t)t->seq + 1)
        return cudaErrorInvalidValue;
    carrier c = {0};
    cudaError_t error = pack(&c, t->batch, t->seq);
    for (int i = 0; i < steps && error == cudaSuccess; i++) {
        random_state rng = random_seed(t->seed + (unsigned long long)net->step);
        for (int b = 0; b < t->batch; b++)
            put(&c, b, h_tokens + random_below(&rng, mine - t->seq), t->seq);
        THEN(run(net, h_losses + i, &c, t->batch, t->seq, stream));
        THEN(gpt_backward(net, stream));
        THEN(gpt_update(net, gpt_learning_rate(t, net->step), 0.9f, 0.95f, 1e-8f, t->weight_decay,
                        t->max_norm, stream));
    }
    unpack(&c);
    return error;
}

cudaError_t gpt_validate(gpt *net, float *h_loss, const int *h_tokens, size_t count, int batch,
                         int seq, cudaStream_t stream)
{
    size_t mine = count / 10;
    if (batch <= 0 || seq <= 0 || net->config.context < seq || mine < (size_t)seq + 1)
        return cudaErrorInvalidValue;
    const int *held = h_tokens + count - mine, windows = (int)((mine - 1) / seq);
    carrier c = {0};
    cudaError_t error = pack(&c, batch, seq);
    double sum = 0;
    for (int done = 0, now; done < windows && error == cudaSuccess; done += now) {
        float loss = 0;
        now = windows - done < batch ? windows - done : batch;
        memset(c.h_rows, 0, 2 * c.rows * sizeof(int));
        for (int b = 0; b < now; b++) put(&c, b, held + (size_t)(done + b) * seq, seq);
        THEN(run(net, &loss, &c, now, seq, stream));
        sum += (double)loss * now;
    }
    *h_loss = (float)(sum / windows);
    unpack(&c);
    return error;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Block h has head h. Its part of the new key and value is put away first; then warps take turns at
 * the positions, and at last each thread a channel. room: a score for each position. */
__global__ static void attend_kernel(float *y, float *cache, float *room, const float *qkv,
                                     int context, int here, int dim)
{
    const int channels = gridDim.x * dim, at = blockIdx.x * dim;
    float *keys = cache + (size_t)blockIdx.x * 2 * context * dim,
          *values = keys + (size_t)context * dim;
    float *scores = room + (size_t)blockIdx.x * context;
    __shared__ float most, sum;
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        keys[(size_t)here * dim + d] = qkv[channels + at + d];
        values[(size_t)here * dim + d] = qkv[2 * channels + at + d];
    }
    __syncthreads();
    for (int s = threadIdx.x; s <= here; s += blockDim.x) {
        float dot = 0;
        for (int d = 0; d < dim; d++) dot += qkv[at + d] * keys[(size_t)s * dim + d];
        scores[s] = dot / sqrtf((float)dim);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        most = scores[0];
        for (int s = 1; s <= here; s++) most = fmaxf(most, scores[s]);
        sum = 0;
        for (int s = 0; s <= here; s++) sum += expf(scores[s] - most);
    }
    __syncthreads();
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float mix = 0;
        for (int s = 0; s <= here; s++) mix += expf(scores[s] - most) * values[(size_t)s * dim + d];
        y[at + d] = mix / sum;
    }
}

/* One arena: x, y [C], wide [4C], two numbers of a normalization, logits, room, cache, the token.
 */
typedef struct pen {
    float *arena, *x, *y, *wide, *mean, *logits, *room, *cache;
    int *token, taken;
} pen;

static cudaError_t read_one(pen *w, const gpt *net, int token, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const float *p = net->params;
    const int C = c->channels;
    cudaError_t error =
        cudaMemcpyAsync(w->token, &token, sizeof token, cudaMemcpyHostToDevice, stream);
    THEN(cudaStreamSynchronize(stream)); /* token is this call's own */
    THEN(embedding_forward(w->x, w->token, p, p + gpt_wpe(c) + (size_t)w->taken * C, 1, 1, C,
                           stream));
    for (int i = 0; i < c->layers; i++) {
        const gpt_layer at = gpt_layer_at(c, i);
        THEN(layernorm_forward(w->y, w->mean, w->mean + 1, w->x, p + at.ln1_w, p + at.ln1_b, 1, C,
                               GPT_EPS, stream));
        THEN(linear_forward(w->wide, w->y, p + at.qkv_w, p + at.qkv_b, 1, C, 3 * C, stream));
        attend_kernel<<<c->heads, 64, 0, stream>>>(w->y, w->cache + (size_t)i * 2 * c->context * C,
                                                   w->room, w->wide, c->context, w->taken,
                                                   C / c->heads);
        THEN(linear_forward(w->wide, w->y, p + at.proj_w, p + at.proj_b, 1, C, C, stream));
        THEN(residual_forward(w->x, w->wide, w->x, C, stream));
        THEN(layernorm_forward(w->y, w->mean, w->mean + 1, w->x, p + at.ln2_w, p + at.ln2_b, 1, C,
                               GPT_EPS, stream));
        THEN(linear_forward(w->wide, w->y, p + at.fc_w, p + at.fc_b, 1, C, 4 * C, stream));
        THEN(gelu_forward(w->wide, w->wide, 4 * C, stream));
        THEN(linear_forward(w->y, w->wide, p + at.fcproj_w, p + at.fcproj_b, 1, 4 * C, C, stream));
        THEN(residual_forward(w->x, w->y, w->x, C, stream));
    }
    w->taken++;
    return error;
}

static int choose(const float *logits, int vocab, float temperature, float u)
{
    int best = 0;
    double all = 0, below = 0;
    for (int v = 0; v < vocab; v++) best = logits[v] > logits[best] ? v : best;
    if (temperature == 0) return best;
    for (int v = 0; v < vocab; v++) all += exp((double)(logits[v] - logits[best]) / temperature);
    for (int v = 0; v < vocab; v++) {
        below += exp((double)(logits[v] - logits[best]) / temperature) / all;
        if (below > u) return v;
    }
    return vocab - 1;
}

cudaError_t gpt_generate(gpt *net, int *h_out, int count, const int *h_prompt, int prompt,
                         float temperature, unsigned long long seed, cudaStream_t stream)
{
    if (prompt < 1 || temperature < 0 || temperature != temperature) return cudaErrorInvalidValue;
    const gpt_config *c = &net->config;
    const float *p = net->params;
    const size_t C = c->channels, cache = 2 * (size_t)c->layers * c->context * C;
    pen w = {0};
    cudaError_t error =
        cudaMalloc((void **)&w.arena,
                   (6 * C + 3 + c->vocab + (size_t)c->heads * c->context + cache) * sizeof(float));
    if (error != cudaSuccess) return error;
    w.x = w.arena;
    w.y = w.x + C;
    w.wide = w.y + C;
    w.mean = w.wide + 4 * C;
    w.logits = w.mean + 2;
    w.room = w.logits + c->vocab;
    w.cache = w.room + (size_t)c->heads * c->context;
    w.token = (int *)(w.cache + cache);
    int *text = (int *)calloc((size_t)prompt + count, sizeof *text);
    float *logits = (float *)calloc(c->vocab, sizeof *logits);
    memcpy(text, h_prompt, prompt * sizeof *text);
    random_state rng = random_seed(seed);
    for (int i = 1; i < prompt + count && error == cudaSuccess; i++) {
        const int full = w.taken == c->context;
        if (full) w.taken = 0;
        for (int k = full ? i - 1 - c->context / 2 : i - 1; k < i; k++)
            THEN(read_one(&w, net, text[k], stream));
        if (i < prompt) continue;
        THEN(layernorm_forward(w.y, w.mean, w.mean + 1, w.x, p + gpt_lnf_w(c), p + gpt_lnf_b(c), 1,
                               (int)C, GPT_EPS, stream));
        THEN(linear_forward(w.logits, w.y, p, NULL, 1, (int)C, c->vocab, stream));
        THEN(cudaMemcpyAsync(logits, w.logits, c->vocab * sizeof(float), cudaMemcpyDeviceToHost,
                             stream));
        THEN(cudaStreamSynchronize(stream));
        text[i] = choose(logits, c->vocab, temperature,
                         temperature > 0 ? random_uniform(&rng, 0.0f, 1.0f) : 0.0f);
    }
    if (error == cudaSuccess && count > 0) memcpy(h_out, text + prompt, count * sizeof *text);
    cudaFree(w.arena);
    free(text);
    free(logits);
    return error;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

cudaError_t gpt_save(void *h_file, gpt *net)
{
    const size_t bytes = gpt_params(&net->config) * sizeof(float);
    char *to = (char *)h_file;
    gpt_checkpoint h = {{'C', 'U', 'D', 'A', '-', 'G', 'P', 'T'}, 1, 0, net->config, net->step};
    cudaError_t error = cudaDeviceSynchronize();
    THEN(cudaMemcpy(to + sizeof h, net->params, bytes, cudaMemcpyDeviceToHost));
    THEN(cudaMemcpy(to + sizeof h + bytes, net->m, bytes, cudaMemcpyDeviceToHost));
    THEN(cudaMemcpy(to + sizeof h + 2 * bytes, net->v, bytes, cudaMemcpyDeviceToHost));
    memcpy(to, &h, sizeof h);
    h.checksum = weights_checksum(to + 16, sizeof h - 16 + 3 * bytes);
    memcpy(to + 12, &h.checksum, 4);
    return error;
}

cudaError_t gpt_load(gpt *net, weights_status *h_status, const void *h_file, size_t bytes)
{
    const size_t each = gpt_params(&net->config) * sizeof(float);
    const char *from = (const char *)h_file;
    gpt_checkpoint h;
    cudaError_t error = cudaErrorInvalidValue;
    *h_status = WEIGHTS_FOREIGN;
    if (bytes < sizeof h) return error;
    memcpy(&h, from, sizeof h);
    if (strncmp(h.magic, GPT_MAGIC, 8) != 0 || h.version != 1) return error;
    *h_status = WEIGHTS_MISMATCH;
    const gpt_config *a = &h.config, *b = &net->config;
    if (a->vocab != b->vocab || a->context != b->context || a->layers != b->layers) return error;
    if (a->heads != b->heads || a->channels != b->channels) return error;
    *h_status = WEIGHTS_TRUNCATED;
    if (bytes != gpt_checkpoint_bytes(b)) return error;
    *h_status = WEIGHTS_CORRUPT;
    if (h.checksum != weights_checksum(from + 16, bytes - 16)) return error;
    *h_status = WEIGHTS_OK;
    error = cudaDeviceSynchronize();
    THEN(cudaMemcpy(net->params, from + sizeof h, each, cudaMemcpyHostToDevice));
    THEN(cudaMemcpy(net->m, from + sizeof h + each, each, cudaMemcpyHostToDevice));
    THEN(cudaMemcpy(net->v, from + sizeof h + 2 * each, each, cudaMemcpyHostToDevice));
    THEN(cudaDeviceSynchronize());
    if (error == cudaSuccess) net->step = h.step;
    return error;
}
