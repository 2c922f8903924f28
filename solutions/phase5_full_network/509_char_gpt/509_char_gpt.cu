/*
 * 509_char_gpt.cu: a GPT that learns a text, continues it, and can be saved and resumed.
 *
 * The idea: training is 508's three calls in a loop. The code around them makes a run repeatable:
 * the windows that a step reads are a function of seed and step, and so is the rate. Then a run has
 * no state but the network: parameters, m, v, and the number of steps. These are a checkpoint, and
 * a run that starts from one goes on as if it had never stopped.
 *
 * Writing is the same network, one token at a time. A token's key and value depend on the tokens
 * before it, and these never change: they are kept, and each new token is one row through the
 * layers, which looks at all keys and values so far:
 *
 *     without   token t costs a pass over t rows        a text of n costs n^2 / 2 rows
 *     with      token t costs one row and t dot products   ...            n rows
 *
 * Positions are learned numbers, so that keys belong to their position and cannot move: when the
 * context is full, the last half of it is read again.
 *
 * What it costs: one row through a linear layer reads all weights for one multiply-add each. The
 * time of a token is that of reading the network from memory or, for a small network, that of some
 * ten launches per layer. 410 shares the reading among many texts.
 */
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "304_softmax/softmax.h"
#include "311_layernorm/layernorm.h"
#include "312_embedding/embedding.h"
#include "508_gpt/gpt.h"
#include "509_char_gpt/char_gpt.h"
#include "cuda_check.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include "progress.h"
#include "random.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BETA1   0.9f
#define BETA2   0.95f
#define EPSILON 1e-8f

/* ---- training -------------------------------------------------------------------------------- */

float gpt_learning_rate(const gpt_training *training, int step)
{
    /* SOLUTION: in the warmup a line up; from training->steps on training->last_lr; between them
       half a cosine, from training->lr down to training->last_lr. Compute in double (about 6
       lines). */
    const gpt_training *t = training;
    if (step < t->warmup) return (float)((double)t->lr * (step + 1) / t->warmup);
    if (step >= t->steps) return t->last_lr;
    double done = (double)(step - t->warmup) / (t->steps - t->warmup); /* 0 .. 1 */
    double share = 0.5 * (1.0 + cos(3.14159265358979323846 * done));
    return (float)(t->last_lr + share * ((double)t->lr - t->last_lr));
    /* END SOLUTION */
}

/* What a run keeps on the device. */
typedef struct windows {
    int *text;             /* [count] */
    int *begins;           /* [number] where each window begins */
    int *tokens, *targets; /* [batch x seq] each, of the batch in hand */
    float *losses;         /* [number of batches] */
} windows;

static cudaError_t load_windows(windows *w, const int *h_text, size_t count, const int *h_begins,
                                size_t number, int batch, int seq)
{
    size_t rows = (size_t)batch * seq * sizeof(int), batches = (number + batch - 1) / batch;
    CUDA_CHECK(cudaMalloc((void **)&w->text, count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&w->begins, number * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&w->tokens, rows));
    CUDA_CHECK(cudaMalloc((void **)&w->targets, rows));
    CUDA_CHECK(cudaMalloc((void **)&w->losses, batches * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(w->text, h_text, count * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(w->begins, h_begins, number * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize()); /* the caller's stream need not wait for the default one */
    return cudaSuccess;
}

static void unload_windows(windows *w)
{
    cudaFree(w->text);
    cudaFree(w->begins);
    cudaFree(w->tokens);
    cudaFree(w->targets);
    cudaFree(w->losses);
}

/* Block b copies window b of the batch, which begins at text[begins[b]], to row b of tokens and of
 * targets, [gridDim.x x seq] each. */
__global__ static void gather_kernel(int *tokens, int *targets, const int *text, const int *begins,
                                     int seq)
{
    /* SOLUTION: the threads of the block share the seq places; a target is the token one place on
       (about 6 lines). */
    size_t row = (size_t)blockIdx.x * seq;
    const int *window = text + begins[blockIdx.x];
    for (int t = threadIdx.x; t < seq; t += blockDim.x) {
        tokens[row + t] = window[t];
        targets[row + t] = window[t + 1];
    }
    /* END SOLUTION */
}

/* The batch that begins at window `first`, of `batch` windows: its mean loss to loss[1] on the
 * device. */
static cudaError_t forward(gpt *net, float *loss, const windows *w, size_t first, int batch,
                           int seq, cudaStream_t stream)
{
    gather_kernel<<<batch, 256, 0, stream>>>(w->tokens, w->targets, w->text, w->begins + first,
                                             seq);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(gpt_forward(net, loss, NULL, w->tokens, w->targets, batch, seq, stream));
    return cudaSuccess;
}

/* @return [steps x t->batch] the beginnings of all windows of so many steps from first_step on,
 * each below `choices`; the caller frees it. NULL without memory. */
static int *draw_windows(const gpt_training *t, size_t choices, int first_step, int steps)
{
    int *begins = (int *)calloc((size_t)steps * t->batch, sizeof *begins);
    if (begins == NULL) return NULL;
    /* SOLUTION: each step has a generator of its own, random_seed(t->seed + number of the step),
       and draws t->batch times with random_below (about 5 lines). */
    for (int i = 0; i < steps; i++) {
        random_state rng = random_seed(t->seed + (unsigned long long)(first_step + i));
        for (int b = 0; b < t->batch; b++)
            begins[(size_t)i * t->batch + b] = (int)random_below(&rng, choices);
    }
    /* END SOLUTION */
    return begins;
}

/* Step number i of this call: its loss to w->losses[i] on the device, and an update. */
static cudaError_t train_step(gpt *net, const windows *w, const gpt_training *t, int i,
                              cudaStream_t stream)
{
    /* SOLUTION: forward of the batch whose first window is i x t->batch; 508's backward pass; its
       update, at the rate of step net->step, with BETA1, BETA2 and EPSILON (about 4 lines). */
    CUDA_CHECK(forward(net, w->losses + i, w, (size_t)i * t->batch, t->batch, t->seq, stream));
    CUDA_CHECK(gpt_backward(net, stream));
    CUDA_CHECK(gpt_update(net, gpt_learning_rate(t, net->step), BETA1, BETA2, EPSILON,
                          t->weight_decay, t->max_norm, stream));
    /* END SOLUTION */
    return cudaSuccess;
}

#define LOOK_EVERY 10 /* steps: each look waits for the device */

/* The steps; the host asks for a loss now and then, and for all of them at the end. */

static cudaError_t train_steps(gpt *net, float *h_losses, const windows *w, const gpt_training *t,
                               int steps, cudaStream_t stream)
{
    progress bar = progress_begin_quiet("train", steps);
    for (int i = 0; i < steps; i++) {
        CUDA_CHECK(train_step(net, w, t, i, stream));
        if ((i + 1) % LOOK_EVERY != 0 && i + 1 < steps) continue;
        int seen = i / LOOK_EVERY * LOOK_EVERY; /* losses that are here already */
        CUDA_CHECK(cudaMemcpyAsync(h_losses + seen, w->losses + seen,
                                   (i + 1 - seen) * sizeof(float), cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        progress_step(&bar, i + 1, "loss %.4f", h_losses[i]);
    }
    progress_end(&bar, "trained");
    return cudaSuccess;
}

cudaError_t gpt_train(gpt *net, float *h_losses, const int *h_tokens, size_t count,
                      const gpt_training *training, int steps, cudaStream_t stream)
{
    const gpt_training *t = training;
    size_t training_tokens = count - count / 10;
    if (t->batch < 1 || t->seq < 1 || t->seq > net->config.context ||
        training_tokens <= (size_t)t->seq)
        return cudaErrorInvalidValue;
    if (steps == 0) return cudaSuccess;
    windows w = {};
    int *h_begins = draw_windows(t, training_tokens - t->seq, net->step, steps);
    if (h_begins == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = load_windows(&w, h_tokens, training_tokens, h_begins,
                                     (size_t)steps * t->batch, t->batch, t->seq);
    if (error == cudaSuccess) error = train_steps(net, h_losses, &w, t, steps, stream);
    unload_windows(&w);
    free(h_begins);
    if (error != cudaSuccess) return error;
    return cudaGetLastError();
}

/* *h_loss is the mean over w's `number` windows, `batch` at a time. */
static cudaError_t validate(gpt *net, float *h_loss, const windows *w, size_t number, int batch,
                            int seq, cudaStream_t stream)
{
    /* SOLUTION: forward batch by batch, the last one may be short, with the loss to w->losses; copy
       each loss to the host and wait for it; it counts as often as its batch has windows (about 10
       lines). */
    double sum = 0.0;
    for (size_t first = 0; first < number; first += batch) {
        int rows = number - first < (size_t)batch ? (int)(number - first) : batch;
        float loss;
        CUDA_CHECK(forward(net, w->losses, w, first, rows, seq, stream));
        CUDA_CHECK(cudaMemcpyAsync(&loss, w->losses, sizeof loss, cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        sum += (double)loss * rows;
    }
    *h_loss = (float)(sum / (double)number);
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t gpt_validate(gpt *net, float *h_loss, const int *h_tokens, size_t count, int batch,
                         int seq, cudaStream_t stream)
{
    size_t tokens = count / 10;
    if (batch < 1 || seq < 1 || seq > net->config.context || tokens <= (size_t)seq)
        return cudaErrorInvalidValue;
    size_t number = (tokens - 1) / seq;
    windows w = {};
    int *h_begins = (int *)calloc(number, sizeof *h_begins);
    if (h_begins == NULL) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < number; i++) h_begins[i] = (int)(i * seq);
    cudaError_t error =
        load_windows(&w, h_tokens + (count - tokens), tokens, h_begins, number, batch, seq);
    if (error == cudaSuccess) error = validate(net, h_loss, &w, number, batch, seq, stream);
    unload_windows(&w);
    free(h_begins);
    if (error != cudaSuccess) return error;
    return cudaGetLastError();
}

/* ---- writing --------------------------------------------------------------------------------- */

/* One text in the making. All arrays are device memory, but h_logits. C is channels. */
typedef struct writer {
    int length;           /* positions that are taken */
    float *keys, *values; /* [layers x context x C] each: of every position so far */
    int *token;           /* [1] */
    float *x, *y;         /* [C] */
    float *rows, *wide;   /* [4C] */
    float *mean, *rstd;   /* [1] */
    float *scores;        /* [heads x context] */
    float *weights;       /* [heads x context] */
    float *logits;        /* [vocab] */
    float *h_logits;      /* [vocab] */
} writer;

static cudaError_t allocate_floats(float **floats, size_t count)
{
    CUDA_CHECK(cudaMalloc((void **)floats, count * sizeof(float)));
    return cudaSuccess;
}

static cudaError_t create_writer(writer *w, const gpt_config *c)
{
    size_t C = c->channels, kept = (size_t)c->layers * c->context * C;
    w->h_logits = (float *)malloc(c->vocab * sizeof(float));
    if (w->h_logits == NULL) return cudaErrorMemoryAllocation;
    CUDA_CHECK(cudaMalloc((void **)&w->token, sizeof(int)));
    CUDA_CHECK(allocate_floats(&w->keys, kept));
    CUDA_CHECK(allocate_floats(&w->values, kept));
    CUDA_CHECK(allocate_floats(&w->x, C));
    CUDA_CHECK(allocate_floats(&w->y, C));
    CUDA_CHECK(allocate_floats(&w->rows, 4 * C));
    CUDA_CHECK(allocate_floats(&w->wide, 4 * C));
    CUDA_CHECK(allocate_floats(&w->mean, 1));
    CUDA_CHECK(allocate_floats(&w->rstd, 1));
    CUDA_CHECK(allocate_floats(&w->scores, (size_t)c->heads * c->context));
    CUDA_CHECK(allocate_floats(&w->weights, (size_t)c->heads * c->context));
    CUDA_CHECK(allocate_floats(&w->logits, c->vocab));
    return cudaSuccess;
}

static void free_writer(writer *w)
{
    float *d_buffers[] = {w->keys, w->values, w->x,      w->y,       w->rows,  w->wide,
                          w->mean, w->rstd,   w->scores, w->weights, w->logits};
    for (size_t i = 0; i < sizeof d_buffers / sizeof d_buffers[0]; i++) cudaFree(d_buffers[i]);
    cudaFree(w->token);
    free(w->h_logits);
}

/* scores[heads x length] = query[C] times keys[length x C], head by head, times scale. A head is
 * dim channels. A warp has a position and a head: blocks are (32, 8), the grid covers (length,
 * heads). */
__global__ static void scores_kernel(float *scores, const float *query, const float *keys,
                                     int length, int dim, float scale)
{
    /* SOLUTION: the position is blockIdx.x * blockDim.y + threadIdx.y, the head blockIdx.y. The
       lanes share the dim products, add up by shuffles, and one of them writes (about 10 lines). */
    int s = blockIdx.x * blockDim.y + threadIdx.y, head = blockIdx.y, lane = threadIdx.x;
    if (s >= length) return; /* all of a warp, or none */
    size_t channels = (size_t)gridDim.y * dim;
    query += (size_t)head * dim;
    keys += s * channels + (size_t)head * dim;
    float sum = 0.0f;
    for (int d = lane; d < dim; d += 32) sum += query[d] * keys[d];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane == 0) scores[(size_t)head * length + s] = sum * scale;
    /* END SOLUTION */
}

/* y[C] = values[length x C] by the weights[heads x length] of their head. A thread has a channel.
 */
__global__ static void mix_kernel(float *y, const float *weights, const float *values, int length,
                                  int channels, int dim)
{
    /* SOLUTION: guard the channel; its head is channel / dim; go down the values of the channel,
       each times the weight of its position (about 6 lines). */
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    weights += (size_t)(c / dim) * length;
    float sum = 0.0f;
    for (int s = 0; s < length; s++) sum += weights[s] * values[(size_t)s * channels + c];
    y[c] = sum;
    /* END SOLUTION */
}

/* w->y[C] = attention of the row of queries, keys and values in w->rows[3C], at position w->length.
 * Its key and value join those of the positions before. */
static cudaError_t attend(const writer *w, const gpt_config *c, int layer, cudaStream_t stream)
{
    /* SOLUTION: copy key and value to their place in w->keys and w->values, behind those of this
       layer so far; then there are w->length + 1 positions. scores_kernel to w->scores, scaled by
       1 / sqrt(dim); 304's softmax of its rows, a row a head, to w->weights; mix_kernel (about 11
       lines). */
    int C = c->channels, dim = C / c->heads, length = w->length + 1;
    size_t first = (size_t)layer * c->context * C, here = first + (size_t)w->length * C;
    size_t row = C * sizeof(float);
    CUDA_CHECK(cudaMemcpyAsync(w->keys + here, w->rows + C, row, cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(
        cudaMemcpyAsync(w->values + here, w->rows + 2 * C, row, cudaMemcpyDeviceToDevice, stream));
    scores_kernel<<<dim3((length + 7) / 8, c->heads), dim3(32, 8), 0, stream>>>(
        w->scores, w->rows, w->keys + first, length, dim, 1.0f / sqrtf((float)dim));
    CUDA_CHECK(softmax_forward(w->weights, w->scores, c->heads, length, stream));
    mix_kernel<<<(C + 127) / 128, 128, 0, stream>>>(w->y, w->weights, w->values + first, length, C,
                                                    dim);
    /* END SOLUTION */
    return cudaGetLastError();
}

/* The forward pass of 508's layer for one row, w->x[C]. Only attention differs. */
static cudaError_t layer(const writer *w, const gpt *net, int number, cudaStream_t stream)
{
    const gpt_config *c = &net->config;
    const float *p = net->params;
    gpt_layer at = gpt_layer_at(c, number);
    int C = c->channels;
    CUDA_CHECK(layernorm_forward(w->y, w->mean, w->rstd, w->x, p + at.ln1_w, p + at.ln1_b, 1, C,
                                 GPT_EPS, stream));
    CUDA_CHECK(linear_forward(w->rows, w->y, p + at.qkv_w, p + at.qkv_b, 1, C, 3 * C, stream));
    CUDA_CHECK(attend(w, c, number, stream));
    CUDA_CHECK(linear_forward(w->rows, w->y, p + at.proj_w, p + at.proj_b, 1, C, C, stream));
    CUDA_CHECK(residual_forward(w->x, w->x, w->rows, C, stream));

    CUDA_CHECK(layernorm_forward(w->y, w->mean, w->rstd, w->x, p + at.ln2_w, p + at.ln2_b, 1, C,
                                 GPT_EPS, stream));
    CUDA_CHECK(linear_forward(w->wide, w->y, p + at.fc_w, p + at.fc_b, 1, C, 4 * C, stream));
    CUDA_CHECK(gelu_forward(w->wide, w->wide, 4 * (size_t)C, stream));
    CUDA_CHECK(
        linear_forward(w->rows, w->wide, p + at.fcproj_w, p + at.fcproj_b, 1, 4 * C, C, stream));
    CUDA_CHECK(residual_forward(w->x, w->x, w->rows, C, stream));
    return cudaSuccess;
}

/* One token through the network, at position w->length, which it takes. Its row stays in w->x[C].
 */
static cudaError_t read_token(writer *w, const gpt *net, int token, cudaStream_t stream)
{
    /* SOLUTION: the token to w->token; its embedding to w->x: 312 for a text of one token, whose
       table of positions begins at row w->length of wpe; all layers; one position more is taken
       (about 6 lines). */
    const gpt_config *c = &net->config;
    const float *p = net->params, *position = p + gpt_wpe(c) + (size_t)w->length * c->channels;
    CUDA_CHECK(cudaMemcpyAsync(w->token, &token, sizeof token, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(embedding_forward(w->x, w->token, p, position, 1, 1, c->channels, stream));
    for (int i = 0; i < c->layers; i++) CUDA_CHECK(layer(w, net, i, stream));
    w->length += 1;
    /* END SOLUTION */
    return cudaSuccess;
}

/* @return the token of the largest of logits[vocab], of equals the first */
static int largest(const float *logits, int vocab)
{
    int best = 0;
    for (int v = 1; v < vocab; v++)
        if (logits[v] > logits[best]) best = v;
    return best;
}

/* @return the first token whose weight and those before it exceed u of all weights, which are
 * exp(logits[v] / temperature) */
static int draw(const float *logits, int vocab, float temperature, float u)
{
    /* SOLUTION: subtract the largest logit first, so that no weight is infinite. Add up all
       weights, then again until the sum so far exceeds its share u. Rounded sums may never do: then
       it is the last token (about 7 lines). */
    double most = logits[largest(logits, vocab)], sum = 0.0, so_far = 0.0;
    for (int v = 0; v < vocab; v++) sum += exp((logits[v] - most) / temperature);
    for (int v = 0; v < vocab; v++) {
        so_far += exp((logits[v] - most) / temperature);
        if (so_far > u * sum) return v;
    }
    return vocab - 1; /* the sum, rounded */
    /* END SOLUTION */
}

/* *token is chosen from the logits of the row that was read last. */
static cudaError_t next_token(int *token, writer *w, const gpt *net, float temperature,
                              random_state *rng, cudaStream_t stream)
{
    /* SOLUTION: the last normalization of w->x to w->y; times wte to w->logits[vocab]; these to
       w->h_logits, and wait for them; at temperature 0 the largest, else a draw with one number of
       random_uniform(.., 0, 1) (about 11 lines). */
    const gpt_config *c = &net->config;
    const float *p = net->params;
    CUDA_CHECK(layernorm_forward(w->y, w->mean, w->rstd, w->x, p + gpt_lnf_w(c), p + gpt_lnf_b(c),
                                 1, c->channels, GPT_EPS, stream));
    CUDA_CHECK(linear_forward(w->logits, w->y, p, NULL, 1, c->channels, c->vocab, stream));
    CUDA_CHECK(cudaMemcpyAsync(w->h_logits, w->logits, c->vocab * sizeof(float),
                               cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    *token = temperature == 0.0f
                 ? largest(w->h_logits, c->vocab)
                 : draw(w->h_logits, c->vocab, temperature, random_uniform(rng, 0.0f, 1.0f));
    /* END SOLUTION */
    return cudaSuccess;
}

/* text[prompt + count] begins with the prompt; behind it `count` tokens are chosen. */
static cudaError_t write_on(writer *w, const gpt *net, int *text, int prompt, int count,
                            float temperature, unsigned long long seed, cudaStream_t stream)
{
    /* SOLUTION: every token is read, but the last, and behind the prompt each is chosen first.
       Where all positions are taken, w->length becomes 0, and the context / 2 tokens before this
       one are read anew. All draws are of one random_seed(seed) (about 12 lines). */
    random_state rng = random_seed(seed);
    int context = net->config.context;
    for (int i = 0; i < prompt + count; i++) {
        if (i >= prompt) CUDA_CHECK(next_token(&text[i], w, net, temperature, &rng, stream));
        if (i + 1 == prompt + count) break; /* what follows the last is not needed */
        if (w->length == context) {
            w->length = 0;
            for (int k = i - context / 2; k < i; k++)
                CUDA_CHECK(read_token(w, net, text[k], stream));
        }
        CUDA_CHECK(read_token(w, net, text[i], stream));
    }
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t gpt_generate(gpt *net, int *h_out, int count, const int *h_prompt, int prompt,
                         float temperature, unsigned long long seed, cudaStream_t stream)
{
    if (!(temperature >= 0.0f) || prompt < 1) return cudaErrorInvalidValue;
    if (count == 0) return cudaSuccess;
    int *text = (int *)malloc(((size_t)prompt + count) * sizeof *text);
    if (text == NULL) return cudaErrorMemoryAllocation;
    memcpy(text, h_prompt, prompt * sizeof *text);
    writer w = {};
    cudaError_t error = create_writer(&w, &net->config);
    if (error == cudaSuccess)
        error = write_on(&w, net, text, prompt, count, temperature, seed, stream);
    if (error == cudaSuccess) memcpy(h_out, text + prompt, count * sizeof *text);
    free_writer(&w);
    free(text);
    if (error != cudaSuccess) return error;
    return cudaGetLastError();
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

#define BEHIND offsetof(gpt_checkpoint, config) /* where begins what the checksum covers */

cudaError_t gpt_save(void *h_file, gpt *net)
{
    size_t floats = gpt_params(&net->config) * sizeof(float);
    unsigned char *file = (unsigned char *)h_file, *arrays = file + sizeof(gpt_checkpoint);
    gpt_checkpoint header = {};
    memcpy(header.magic, GPT_MAGIC, sizeof header.magic);
    header.version = GPT_VERSION;
    header.config = net->config;
    header.step = net->step;
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(arrays, net->params, floats, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(arrays + floats, net->m, floats, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(arrays + 2 * floats, net->v, floats, cudaMemcpyDeviceToHost));
    memcpy(file, &header, sizeof header);
    header.checksum = weights_checksum(file + BEHIND, gpt_checkpoint_bytes(&net->config) - BEHIND);
    memcpy(file, &header, sizeof header);
    return cudaGetLastError();
}

/* What is wrong with h_file[bytes]; *header receives its header, if it has a whole one. */
static weights_status status_of(gpt_checkpoint *header, const gpt *net, const void *h_file,
                                size_t bytes)
{
    weights_status status = WEIGHTS_CORRUPT; /* until the checksum was seen to be right */
    /* SOLUTION: the first that is true, in the order of gpt_load's contract. The file may lie at
       any address: copy its header out. The checksum covers all from BEHIND on (about 9 lines).
     */
    if (bytes < sizeof *header) return WEIGHTS_FOREIGN;
    memcpy(header, h_file, sizeof *header);
    if (memcmp(header->magic, GPT_MAGIC, sizeof header->magic) != 0) return WEIGHTS_FOREIGN;
    if (header->version != GPT_VERSION) return WEIGHTS_FOREIGN;
    if (memcmp(&header->config, &net->config, sizeof net->config) != 0) return WEIGHTS_MISMATCH;
    if (bytes != gpt_checkpoint_bytes(&net->config)) return WEIGHTS_TRUNCATED;
    const unsigned char *file = (const unsigned char *)h_file;
    uint32_t checksum = weights_checksum(file + BEHIND, bytes - BEHIND);
    if (checksum == header->checksum) status = WEIGHTS_OK;
    /* END SOLUTION */
    return status;
}

cudaError_t gpt_load(gpt *net, weights_status *h_status, const void *h_file, size_t bytes)
{
    gpt_checkpoint header;
    *h_status = status_of(&header, net, h_file, bytes);
    if (*h_status != WEIGHTS_OK) return cudaErrorInvalidValue;
    size_t floats = gpt_params(&net->config) * sizeof(float);
    const unsigned char *arrays = (const unsigned char *)h_file + sizeof header;
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(net->params, arrays, floats, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(net->m, arrays + floats, floats, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(net->v, arrays + 2 * floats, floats, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());
    net->step = header.step;
    return cudaGetLastError();
}
