// RIGHT: windows are copied one by one from the text on the device; a token is one launch of one
// block, which goes through all layers by itself
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "304_softmax/softmax.h"
#include "311_layernorm/layernorm.h"
#include "312_embedding/embedding.h"
#include "508_gpt/gpt.h"
#include "509_char_gpt/char_gpt.h"
#include "random.h"
#include "weights.h"

#include <cmath>
#include <cstring>
#include <vector>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) return error_;                                                  \
    } while (0)

/* Memory of the device that goes with its name. */
template <typename T> struct on_device {
    T *at = nullptr;
    cudaError_t error;
    explicit on_device(size_t count)
    {
        error = cudaMalloc((void **)&at, (count + 1) * sizeof(T));
    }
    ~on_device()
    {
        cudaFree(at);
    }
    on_device(const on_device &) = delete;
};

float gpt_learning_rate(const gpt_training *t, int step)
{
    double rate = t->last_lr;
    if (step < t->warmup)
        rate = (double)t->lr * (step + 1) / t->warmup;
    else if (step < t->steps)
        rate += (t->lr - (double)t->last_lr) / 2 *
                (1 + std::cos(M_PI * (step - t->warmup) / (t->steps - t->warmup)));
    return (float)rate;
}

static bool fits(const gpt *net, int batch, int seq, size_t tokens)
{
    return batch >= 1 && seq >= 1 && seq <= net->config.context && tokens > (size_t)seq;
}

/* Tokens and targets of the windows that begin there. */
static cudaError_t fill(int *tokens, int *targets, const int *text, const size_t *begins, int batch,
                        int seq, cudaStream_t stream)
{
    for (int b = 0; b < batch; b++) {
        TRY(cudaMemcpyAsync(tokens + (size_t)b * seq, text + begins[b], seq * sizeof(int),
                            cudaMemcpyDeviceToDevice, stream));
        TRY(cudaMemcpyAsync(targets + (size_t)b * seq, text + begins[b] + 1, seq * sizeof(int),
                            cudaMemcpyDeviceToDevice, stream));
    }
    return cudaSuccess;
}

cudaError_t gpt_train(gpt *net, float *h_losses, const int *h_tokens, size_t count,
                      const gpt_training *t, int steps, cudaStream_t stream)
{
    const size_t usable = count - count / 10, rows = (size_t)t->batch * t->seq;
    if (!fits(net, t->batch, t->seq, usable)) return cudaErrorInvalidValue;
    on_device<int> text(usable), tokens(rows), targets(rows);
    on_device<float> losses(steps);
    if (text.error || tokens.error || targets.error || losses.error)
        return cudaErrorMemoryAllocation;
    TRY(cudaMemcpyAsync(text.at, h_tokens, usable * sizeof(int), cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < steps; i++) {
        random_state rng = random_seed(t->seed + net->step);
        std::vector<size_t> begins(t->batch);
        for (size_t &begin : begins) begin = random_below(&rng, usable - t->seq);
        TRY(fill(tokens.at, targets.at, text.at, begins.data(), t->batch, t->seq, stream));
        TRY(gpt_forward(net, losses.at + i, NULL, tokens.at, targets.at, t->batch, t->seq, stream));
        TRY(gpt_backward(net, stream));
        TRY(gpt_update(net, gpt_learning_rate(t, net->step), 0.9f, 0.95f, 1e-8f, t->weight_decay,
                       t->max_norm, stream));
    }
    TRY(cudaMemcpyAsync(h_losses, losses.at, steps * sizeof(float), cudaMemcpyDeviceToHost,
                        stream));
    return cudaStreamSynchronize(stream);
}

cudaError_t gpt_validate(gpt *net, float *h_loss, const int *h_tokens, size_t count, int batch,
                         int seq, cudaStream_t stream)
{
    const size_t held = count / 10;
    if (!fits(net, batch, seq, held)) return cudaErrorInvalidValue;
    const size_t windows = (held - 1) / seq;
    on_device<int> text(held), tokens((size_t)batch * seq), targets((size_t)batch * seq);
    on_device<float> loss(1);
    if (text.error || tokens.error || targets.error || loss.error) return cudaErrorMemoryAllocation;
    TRY(cudaMemcpyAsync(text.at, h_tokens + count - held, held * sizeof(int),
                        cudaMemcpyHostToDevice, stream));
    double sum = 0;
    for (size_t first = 0; first < windows;) {
        std::vector<size_t> begins;
        while (first < windows && begins.size() < (size_t)batch) begins.push_back(first++ * seq);
        const int now = (int)begins.size();
        TRY(fill(tokens.at, targets.at, text.at, begins.data(), now, seq, stream));
        TRY(gpt_forward(net, loss.at, NULL, tokens.at, targets.at, now, seq, stream));
        TRY(cudaMemcpyAsync(h_loss, loss.at, sizeof(float), cudaMemcpyDeviceToHost, stream));
        TRY(cudaStreamSynchronize(stream));
        sum += (double)*h_loss * now;
    }
    *h_loss = (float)(sum / windows);
    return cudaSuccess;
}

/* ---- a token in one launch ------------------------------------------------------------------- */

enum { BLOCK = 256, WARP = 32 };

/* y[out] = w[out x in] x + bias, a warp a number; or y += that */
__device__ static void times(float *y, const float *w, const float *bias, const float *x, int in,
                             int out, bool adds)
{
    const int lane = threadIdx.x % WARP;
    for (int o = threadIdx.x / WARP; o < out; o += BLOCK / WARP) {
        float sum = 0;
        for (int i = lane; i < in; i += WARP) sum += w[(size_t)o * in + i] * x[i];
        for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (bias) sum += bias[o];
        if (lane == 0) y[o] = adds ? y[o] + sum : sum;
    }
    __syncthreads();
}

/* The first thread does it all: the row is short beside the products. */
__device__ static void normalized(float *y, const float *x, const float *w, const float *b, int C)
{
    __shared__ float mean, rstd;
    if (threadIdx.x == 0) {
        float sum = 0, squares = 0;
        for (int c = 0; c < C; c++) sum += x[c];
        mean = sum / C;
        for (int c = 0; c < C; c++) squares += (x[c] - mean) * (x[c] - mean);
        rstd = 1 / sqrtf(squares / C + GPT_EPS);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < C; c += BLOCK) y[c] = (x[c] - mean) * rstd * w[c] + b[c];
    __syncthreads();
}

/* A thread a channel; each finds the weights of its head again, as the values come by. */
__device__ static void attended(float *y, const float *q, const float *keys, const float *values,
                                int length, int C, int dim)
{
    for (int c = threadIdx.x; c < C; c += BLOCK) {
        const int head = c / dim * dim;
        float most = -INFINITY, sum = 0, mix = 0;
        for (int s = 0; s < length; s++) {
            float score = 0;
            for (int d = 0; d < dim; d++) score += q[head + d] * keys[(size_t)s * C + head + d];
            score /= sqrtf((float)dim);
            const float larger = fmaxf(most, score);
            const float kept = expf(most - larger), weight = expf(score - larger);
            sum = sum * kept + weight;
            mix = mix * kept + weight * values[(size_t)s * C + c];
            most = larger;
        }
        y[c] = mix / sum;
    }
    __syncthreads();
}

/* memory: x [C], y [C], wide [4C], and then of each layer keys and values [context x C] */
__global__ static void token_kernel(float *logits, float *memory, const float *p,
                                    const gpt_layer *layers, size_t wpe, size_t lnf_w, size_t lnf_b,
                                    gpt_config config, int token, int position)
{
    const int C = config.channels;
    float *x = memory, *y = x + C, *wide = y + C, *cache = wide + 4 * C;
    for (int c = threadIdx.x; c < C; c += BLOCK)
        x[c] = p[(size_t)token * C + c] + p[wpe + (size_t)position * C + c];
    __syncthreads();
    for (int l = 0; l < config.layers; l++) {
        const gpt_layer at = layers[l];
        float *keys = cache + (size_t)l * 2 * config.context * C;
        float *values = keys + (size_t)config.context * C;
        normalized(y, x, p + at.ln1_w, p + at.ln1_b, C);
        times(wide, p + at.qkv_w, p + at.qkv_b, y, C, 3 * C, false);
        for (int c = threadIdx.x; c < C; c += BLOCK) {
            keys[(size_t)position * C + c] = wide[C + c];
            values[(size_t)position * C + c] = wide[2 * C + c];
        }
        __syncthreads();
        attended(y, wide, keys, values, position + 1, C, C / config.heads);
        times(x, p + at.proj_w, p + at.proj_b, y, C, C, true);
        normalized(y, x, p + at.ln2_w, p + at.ln2_b, C);
        times(wide, p + at.fc_w, p + at.fc_b, y, C, 4 * C, false);
        for (int c = threadIdx.x; c < 4 * C; c += BLOCK) {
            const float v = wide[c];
            wide[c] = 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
        }
        __syncthreads();
        times(x, p + at.fcproj_w, p + at.fcproj_b, wide, 4 * C, C, true);
    }
    normalized(y, x, p + lnf_w, p + lnf_b, C);
    times(logits, p, NULL, y, C, config.vocab, false);
}

static int chosen(const std::vector<float> &logits, float temperature, random_state *rng)
{
    size_t best = 0;
    for (size_t v = 1; v < logits.size(); v++)
        if (logits[v] > logits[best]) best = v;
    if (temperature == 0) return (int)best;
    std::vector<double> up_to(logits.size());
    double sum = 0;
    for (size_t v = 0; v < logits.size(); v++)
        up_to[v] = sum += std::exp(((double)logits[v] - logits[best]) / temperature);
    const double drawn = random_uniform(rng, 0, 1) * sum;
    size_t v = 0;
    while (v + 1 < logits.size() && up_to[v] <= drawn) v++;
    return (int)v;
}

cudaError_t gpt_generate(gpt *net, int *h_out, int count, const int *h_prompt, int prompt,
                         float temperature, unsigned long long seed, cudaStream_t stream)
{
    if (prompt < 1 || !(temperature >= 0)) return cudaErrorInvalidValue;
    const gpt_config &c = net->config;
    std::vector<int> text(h_prompt, h_prompt + prompt);
    std::vector<gpt_layer> h_layers;
    std::vector<float> h_logits(c.vocab);
    for (int l = 0; l < c.layers; l++) h_layers.push_back(gpt_layer_at(&c, l));
    on_device<gpt_layer> layers(c.layers);
    on_device<float> logits(c.vocab);
    on_device<float> memory(6 * (size_t)c.channels + 2 * (size_t)c.layers * c.context * c.channels);
    if (layers.error || logits.error || memory.error) return cudaErrorMemoryAllocation;
    TRY(cudaMemcpyAsync(layers.at, h_layers.data(), c.layers * sizeof(gpt_layer),
                        cudaMemcpyHostToDevice, stream));
    random_state rng = random_seed(seed);
    int taken = 0;
    const auto read = [&](int token) {
        token_kernel<<<1, BLOCK, 0, stream>>>(logits.at, memory.at, net->params, layers.at,
                                              gpt_wpe(&c), gpt_lnf_w(&c), gpt_lnf_b(&c), c, token,
                                              taken++);
    };
    for (size_t i = 0; i < (size_t)prompt + count - 1; i++) {
        if (taken == c.context) {
            taken = 0;
            for (size_t k = i - c.context / 2; k < i; k++) read(text[k]);
        }
        read(text[i]);
        if (i + 1 < (size_t)prompt) continue;
        TRY(cudaMemcpyAsync(h_logits.data(), logits.at, c.vocab * sizeof(float),
                            cudaMemcpyDeviceToHost, stream));
        TRY(cudaStreamSynchronize(stream));
        text.push_back(chosen(h_logits, temperature, &rng));
    }
    TRY(cudaStreamSynchronize(stream));
    if (count > 0) memcpy(h_out, text.data() + prompt, count * sizeof(int));
    return cudaGetLastError();
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

cudaError_t gpt_save(void *h_file, gpt *net)
{
    const size_t floats = gpt_params(&net->config), skipped = offsetof(gpt_checkpoint, config);
    std::vector<char> file(gpt_checkpoint_bytes(&net->config));
    gpt_checkpoint head = {{0}, GPT_VERSION, 0, net->config, net->step};
    memcpy(head.magic, GPT_MAGIC, 8);
    const float *arrays[] = {net->params, net->m, net->v};
    TRY(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++)
        TRY(cudaMemcpy(file.data() + sizeof head + i * floats * sizeof(float), arrays[i],
                       floats * sizeof(float), cudaMemcpyDeviceToHost));
    memcpy(file.data(), &head, sizeof head);
    head.checksum = weights_checksum(file.data() + skipped, file.size() - skipped);
    memcpy(file.data(), &head, sizeof head);
    memcpy(h_file, file.data(), file.size());
    return cudaSuccess;
}

cudaError_t gpt_load(gpt *net, weights_status *h_status, const void *h_file, size_t bytes)
{
    const char *file = (const char *)h_file;
    const size_t floats = gpt_params(&net->config), skipped = offsetof(gpt_checkpoint, config);
    gpt_checkpoint head = {};
    if (bytes >= sizeof head) memcpy(&head, file, sizeof head);
    *h_status = WEIGHTS_OK;
    if (bytes < sizeof head || memcmp(head.magic, GPT_MAGIC, 8) || head.version != GPT_VERSION)
        *h_status = WEIGHTS_FOREIGN;
    else if (memcmp(&head.config, &net->config, sizeof head.config))
        *h_status = WEIGHTS_MISMATCH;
    else if (bytes != sizeof head + 3 * floats * sizeof(float))
        *h_status = WEIGHTS_TRUNCATED;
    else if (weights_checksum(file + skipped, bytes - skipped) != head.checksum)
        *h_status = WEIGHTS_CORRUPT;
    if (*h_status != WEIGHTS_OK) return cudaErrorInvalidValue;
    float *arrays[] = {net->params, net->m, net->v};
    TRY(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++)
        TRY(cudaMemcpy(arrays[i], file + sizeof head + i * floats * sizeof(float),
                       floats * sizeof(float), cudaMemcpyHostToDevice));
    net->step = head.step;
    return cudaDeviceSynchronize();
}
