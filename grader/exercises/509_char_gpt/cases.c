/* 509_char_gpt: training step by step against the same in double, in parts and after a
 * checkpoint; checkpoints that are damaged; and writing, against a network that reads everything
 * anew for each token. */
#include "exercises/shared/gpt/gpt_cases.h"
#include "504_resnet18_cpu/resnet18_cpu.h"
#include "weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INVALID        1    /* cudaErrorInvalidValue */
#define LOSS_TOLERANCE 1e-3 /* of losses after some steps */
#define STEPS_MAX      32

/* A shape begins: vocab, context, layers, heads, channels. */

/* ---- the student's, by the number of the network ----------------------------------------------
 */

/* Its products alone are three times those of a forward pass. */
static void train_here(int net, const gpt_config *c, float *losses, const int *text, size_t count,
                       const gpt_training *t, int steps)
{
    call_counted("gpt_train", ARGS(handle(net), host(out_f32("h_losses", losses, (size_t)steps)),
                                   host(in_i32("h_tokens", text, count)), u64(count),
                                   host(in_bytes("training", t, sizeof *t)), i32(steps), stream()));
    expect_operations("gpt_train", 3 * gpt_forward_flop(c, (double)steps * t->batch * t->seq));
}

static float validate_here(int net, const int *text, size_t count, int batch, int seq)
{
    float loss;
    call_cuda("gpt_validate", ARGS(handle(net), host(out_f32("h_loss", &loss, 1)),
                                   host(in_i32("h_tokens", text, count)), u64(count), i32(batch),
                                   i32(seq), stream()));
    return loss;
}

static void generate_here(int net, int *out, int count, const int *prompt, int length,
                          float temperature, unsigned long long seed)
{
    call_counted("gpt_generate", ARGS(handle(net), host(out_i32("h_out", out, (size_t)count)),
                                      i32(count), host(in_i32("h_prompt", prompt, (size_t)length)),
                                      i32(length), f32(temperature), u64(seed), stream()));
}

static unsigned char *save_here(int net, const gpt_config *c)
{
    const size_t bytes = gpt_checkpoint_bytes(c);
    unsigned char *file = array_of(ELEMENT_BYTE, bytes);
    call_cuda("gpt_save", ARGS(host(out_of(ELEMENT_BYTE, "h_file", file, bytes)), handle(net)));
    return file;
}

/* ---- training -------------------------------------------------------------------------------- */

static void learning_rate(const long *shape)
{
    const gpt_training t = {
        .steps = (int)shape[0], .warmup = (int)shape[1], .lr = 6e-4f, .last_lr = 1e-4f};
    for (int step = 0; step < t.steps + 3; step++) {
        const double done = (double)(step - t.warmup) / (t.steps - t.warmup);
        double want = t.last_lr + 0.5 * (1 + cos(acos(-1.0) * done)) * ((double)t.lr - t.last_lr);
        if (step < t.warmup) want = (double)t.lr * (step + 1) / t.warmup;
        if (step >= t.steps) want = t.last_lr;
        const float got = call_returning_f32(
            "gpt_learning_rate", ARGS(host(in_bytes("training", &t, sizeof t)), i32(step)));
        expect(fabs(got - want) <= 1e-6 * t.lr,
               "of %d steps, %d of them warmup, step %d has the rate %.8g, should be %.8g", t.steps,
               t.warmup, step, got, want);
    }
}

/* Ten steps, in so many calls; any other window has another loss. shape: config, batch, seq, count,
 * calls */
static void ten_steps(const long *shape)
{
    enum { STEPS = 10 };
    const gpt_config c = gpt_config_of(shape);
    const size_t count = (size_t)shape[7], training = count - count / 10;
    gpt_training t = gpt_training_of((int)shape[5], (int)shape[6], STEPS);
    const float *params = gpt_random_params(&c);
    const int *text = random_i32(count, 0, c.vocab);
    float losses[STEPS];
    t.weight_decay = 2.0f; /* shows in a loss */
    reference_gpt r = reference_gpt_create(&c, params);
    gpt_create_here(0, &c, params);
    for (int call = 0, done = 0; call < shape[8]; call++) {
        const int steps = call + 1 == shape[8] ? STEPS - done : (int)(STEPS / shape[8]);
        train_here(0, &c, losses + done, text, count, &t, steps);
        done += steps;
    }
    for (int step = 0; step < STEPS; step++) {
        char what[64];
        snprintf(what, sizeof what, "the loss of step %d", step);
        gpt_expect_loss(what, losses[step], reference_gpt_train_step(&r, text, training, &t),
                        LOSS_TOLERANCE);
    }
    gpt_free_here(0);
}

/* shape: config, seq, count, batch */
static void validation(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int seq = (int)shape[5];
    const size_t count = (size_t)shape[6], tokens = count / 10, windows = (tokens - 1) / seq;
    const float *params = gpt_random_params(&c);
    const int *text = random_i32(count, 0, c.vocab);
    const int *held = text + (count - tokens);
    reference_gpt r = reference_gpt_create(&c, params);
    double sum = 0.0;
    for (size_t i = 0; i < windows; i++) {
        sum += reference_gpt_forward(&r, held + i * seq, held + i * seq + 1, 1, seq);
    }
    gpt_create_here(0, &c, params);
    const int batches[] = {1, (int)shape[7], (int)windows, (int)windows + 5};
    for (int i = 0; i < 4; i++) {
        char what[96];
        snprintf(what, sizeof what, "the loss over %zu windows of validation, %d at a time,",
                 windows, batches[i]);
        gpt_expect_loss(what, validate_here(0, text, count, batches[i], seq), sum / (double)windows,
                        FP32_NORM_TOLERANCE);
    }
    gpt_free_here(0);
}

/* Only letters in a circle: afterwards it can say the alphabet. shape: config, batch, seq, steps,
 * and the loss that it must reach, in per cent */
static void learns(const long *shape)
{
    enum { LETTERS = 24 };
    const gpt_config c = gpt_config_of(shape);
    const size_t count = 400;
    const int steps = (int)shape[7];
    gpt_training t = gpt_training_of((int)shape[5], (int)shape[6], steps);
    int *text = i32_array(count), said[LETTERS];
    float *params = f32_array(gpt_params(&c)), *losses = f32_array((size_t)steps);
    for (size_t i = 0; i < count; i++) text[i] = (int)(i * 3 % (size_t)c.vocab);
    t.lr = 1e-2f;
    t.last_lr = 1e-3f;
    gpt_init(params, &c, random_u64(case_random()));
    gpt_create_here(0, &c, params);
    train_here(0, &c, losses, text, count, &t, steps);
    const float loss = validate_here(0, text, count, t.batch, t.seq);
    expect(
        loss <= 0.01 * (double)shape[8],
        "after %d steps on letters in a circle the validation loss is %.4f, it began at %.4f and "
        "should be below %.2f",
        steps, loss, losses[0], 0.01 * (double)shape[8]);
    generate_here(0, said, LETTERS, text, 3, 0.0f, 0);
    for (int i = 0; i < LETTERS; i++) {
        expect(said[i] == text[3 + i],
               "after %d steps on letters in a circle, letter %d of %d is %d, should be %d", steps,
               i, LETTERS, said[i], text[3 + i]);
    }
    note("loss %.2f to %.2f in %d steps", losses[0], loss, steps);
    gpt_free_here(0);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static void expect_same_bits(const char *what, const void *a, const void *b, size_t floats)
{
    const float *x = a, *y = b;
    for (size_t i = 0; i < floats; i++) {
        expect(memcmp(x + i, y + i, sizeof *x) == 0, "%s %zu is %.9g in one and %.9g in the other",
               what, i, x[i], y[i]);
    }
}

static weights_status load_here(int net, int returned, const unsigned char *file, size_t bytes)
{
    int status;
    argument args[] = {handle(net), host(out_i32("h_status", &status, 1)),
                       shifted(host(in_bytes("h_file", file, bytes)), 3), u64(bytes)};
    if (returned == 0)
        call_cuda("gpt_load", args, 4);
    else
        call_refused(returned, "gpt_load", args, 4);
    return (weights_status)status;
}

/* A run that was put away and taken up in another network is the same run, to the last bit. Every
 * token stands once in the window: then nothing is added in one of several orders. shape: config,
 * seq, steps before, steps after */
static void resume(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int before = (int)shape[6], after = (int)shape[7], all = before + after;
    const size_t count = 300, n = gpt_params(&c);
    const gpt_training t = gpt_training_of(1, (int)shape[5], all);
    const float *params = gpt_random_params(&c);
    int *text = i32_array(count);
    float straight[STEPS_MAX], first[STEPS_MAX], second[STEPS_MAX];
    float *p = f32_array(n), *q = f32_array(n);
    for (size_t i = 0; i < count; i++) text[i] = (int)(i * 5 % (size_t)c.vocab);
    gpt_create_here(0, &c, params);
    train_here(0, &c, straight, text, count, &t, all);
    gpt_create_here(1, &c, params);
    train_here(1, &c, first, text, count, &t, before);
    const unsigned char *file = save_here(1, &c);
    gpt_create_here(2, &c, gpt_random_params(&c));
    const weights_status status = load_here(2, 0, file, gpt_checkpoint_bytes(&c));
    expect(status == WEIGHTS_OK, "a good checkpoint has status %d, should be WEIGHTS_OK", status);
    train_here(2, &c, second, text, count, &t, after);
    expect_same_bits("with and without a checkpoint, before it: the loss of step", straight, first,
                     (size_t)before);
    expect_same_bits("with and without a checkpoint, after it: the loss of step", straight + before,
                     second, (size_t)after);
    gpt_get_here("gpt_get_params", 0, &c, p);
    gpt_get_here("gpt_get_params", 2, &c, q);
    expect_same_bits("with and without a checkpoint, after it: parameter", p, q, n);
    for (int i = 0; i < 3; i++) gpt_free_here(i);
}

/* What is in the file. shape: config, steps */
static void layout_of_file(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const size_t count = 200, n = gpt_params(&c), bytes = gpt_checkpoint_bytes(&c);
    const gpt_training t = gpt_training_of(2, c.context, (int)shape[5]);
    float losses[STEPS_MAX], *params = f32_array(n);
    gpt_create_here(0, &c, gpt_random_params(&c));
    train_here(0, &c, losses, random_i32(count, 0, c.vocab), count, &t, t.steps);
    const unsigned char *file = save_here(0, &c);
    gpt_checkpoint header;
    memcpy(&header, file, sizeof header);
    expect(memcmp(header.magic, GPT_MAGIC, 8) == 0, "the magic of the file is not " GPT_MAGIC);
    expect(header.version == GPT_VERSION, "the version is %u, should be %d", header.version,
           GPT_VERSION);
    expect(memcmp(&header.config, &c, sizeof c) == 0, "the config in the file is another one");
    expect(header.step == t.steps, "the step in the file is %d, should be %d", header.step,
           t.steps);
    const size_t from = offsetof(gpt_checkpoint, config);
    const uint32_t checksum = weights_checksum(file + from, bytes - from);
    expect(header.checksum == checksum,
           "the checksum is %08x, should be %08x, of everything behind it", header.checksum,
           checksum);
    gpt_get_here("gpt_get_params", 0, &c, params);
    expect_same_bits("of the network and of its file: parameter", params, file + sizeof header, n);
    gpt_free_here(0);
}

/* One way to spoil a file. */
typedef struct damage {
    const char *what;
    size_t at; /* byte that is changed; or none */
    long cut;  /* bytes that are missing at the end, or, below 0, too many */
    weights_status status;
    bool with_new_checksum; /* somebody computed it anew */
} damage;

static void expect_refused(int net, const gpt_config *c, const unsigned char *good, damage d)
{
    const size_t all = gpt_checkpoint_bytes(c), bytes = (size_t)((long)all - d.cut);
    const size_t from = offsetof(gpt_checkpoint, config);
    unsigned char *file = array_of(ELEMENT_BYTE, bytes > all ? bytes : all);
    memcpy(file, good, all);
    if (d.at < all) file[d.at] ^= 0x10;
    if (d.with_new_checksum) {
        const uint32_t checksum = weights_checksum(file + from, all - from);
        memcpy(file + offsetof(gpt_checkpoint, checksum), &checksum, sizeof checksum);
    }
    const weights_status status = load_here(net, INVALID, file, bytes);
    expect(status == d.status, "%s: the status is %d, should be %d", d.what, status, d.status);
}

/* A file that is refused takes nothing from the network, neither numbers nor steps. shape: config
 */
static void damaged(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const size_t count = 200, n = gpt_params(&c), all = gpt_checkpoint_bytes(&c), none = all;
    const gpt_training t = gpt_training_of(1, c.context, 6);
    const size_t arrays = sizeof(gpt_checkpoint);
    const int *text = random_i32(count, 0, c.vocab);
    float losses[STEPS_MAX], *before = f32_array(n), *after = f32_array(n);
    gpt_create_here(0, &c, gpt_random_params(&c));
    train_here(0, &c, losses, text, count, &t, 2);
    const unsigned char *good = save_here(0, &c);
    train_here(0, &c, losses, text, count, &t, 2);
    const unsigned char *now = save_here(0, &c);
    gpt_get_here("gpt_get_params", 0, &c, before);
    const damage damages[] = {
        {"an empty file", none, (long)all, WEIGHTS_FOREIGN, false},
        {"a file that ends in its header", none, (long)(all - arrays) + 1, WEIGHTS_FOREIGN, false},
        {"another magic", 7, 0, WEIGHTS_FOREIGN, false},
        {"another version", offsetof(gpt_checkpoint, version), 0, WEIGHTS_FOREIGN, false},
        {"another vocabulary", offsetof(gpt_checkpoint, config), 0, WEIGHTS_MISMATCH, false},
        {"other channels, and the checksum of that",
         offsetof(gpt_checkpoint, config) + offsetof(gpt_config, channels), 0, WEIGHTS_MISMATCH,
         true},
        {"a file without its last byte", none, 1, WEIGHTS_TRUNCATED, false},
        {"a file that ends behind its header", none, (long)(all - arrays), WEIGHTS_TRUNCATED,
         false},
        {"a file that goes on", none, -5, WEIGHTS_TRUNCATED, false},
        {"another checksum", offsetof(gpt_checkpoint, checksum), 0, WEIGHTS_CORRUPT, false},
        {"another step", offsetof(gpt_checkpoint, step), 0, WEIGHTS_CORRUPT, false},
        {"a parameter that changed", arrays + 5, 0, WEIGHTS_CORRUPT, false},
        {"a mean that changed", arrays + n * sizeof(float) + 6, 0, WEIGHTS_CORRUPT, false},
        {"another last byte", all - 1, 0, WEIGHTS_CORRUPT, false},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        expect_refused(0, &c, good, damages[i]);
    }
    gpt_get_here("gpt_get_params", 0, &c, after);
    expect_same_bits("before and after files that were refused: parameter", before, after, n);
    expect(memcmp(save_here(0, &c), now, all) == 0,
           "files that were refused changed Adam's means or the step");
    const weights_status status = load_here(0, 0, good, all);
    expect(status == WEIGHTS_OK, "a good checkpoint has status %d, should be WEIGHTS_OK", status);
    expect(memcmp(save_here(0, &c), good, all) == 0,
           "a file that was loaded and saved again differs");
    gpt_free_here(0);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The logits behind text[0 .. length), as the contract says which of them are still read. */
static const double *reference_logits(reference_gpt *r, const int *text, int length)
{
    const int context = r->config.context;
    int first = 0, taken = 0;
    for (int i = 0; i < length; i++) {
        if (taken == context) {
            taken = context / 2;
            first = i - taken;
        }
        taken++;
    }
    reference_gpt_forward(r, text + first, NULL, 1, taken);
    return r->logits + (size_t)(taken - 1) * (size_t)r->config.vocab;
}

/* Is `token` one that may come? Within rounding at most a neighbour could come in its place. */
static void expect_token(const double *logits, int vocab, int token, float temperature, double u,
                         int number)
{
    double largest = -INFINITY, sum = 0.0, below = 0.0;
    expect(token >= 0 && token < vocab, "h_out[%d] is %d, which is no token", number, token);
    for (int v = 0; v < vocab; v++) largest = fmax(largest, logits[v]);
    if (temperature == 0.0f) {
        expect(logits[token] >= largest - 1e-4,
               "h_out[%d] is %d, whose logit is %.6g; at temperature 0 it is the largest, %.6g",
               number, token, logits[token], largest);
        return;
    }
    for (int v = 0; v < vocab; v++) sum += exp((logits[v] - largest) / temperature);
    for (int v = 0; v < token; v++) below += exp((logits[v] - largest) / temperature) / sum;
    const double own = exp((logits[token] - largest) / temperature) / sum;
    expect(below - 1e-4 <= u && u < below + own + 1e-4,
           "h_out[%d] is %d, whose weights reach from %.6f to %.6f; the number drawn is %.6f",
           number, token, below, below + own, u);
}

/* Of the attention of the last head the last channel counts most: who leaves it out says other
 * tokens. */
static void stress_last_channel(const gpt_config *c, float *params)
{
    const size_t channels = (size_t)c->channels;
    for (int layer = 0; layer < c->layers; layer++) {
        float *w = params + gpt_layer_at(c, layer).proj_w;
        for (size_t row = 0; row < channels; row++) w[row * channels + channels - 1] *= 30.0f;
    }
}

/* Token by token. shape: config, prompt, count, temperature in per cent */
static void writes(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int prompt = (int)shape[5], count = (int)shape[6];
    const float temperature = 0.01f * (float)shape[7];
    float *params = gpt_random_params(&c);
    const unsigned long long seed = random_u64(case_random());
    int *text = i32_array((size_t)(prompt + count)), *again = i32_array((size_t)count);
    memcpy(text, random_i32((size_t)prompt, 0, c.vocab), (size_t)prompt * sizeof *text);
    stress_last_channel(&c, params);
    reference_gpt r = reference_gpt_create(&c, params);
    random_state rng = random_seed(seed);
    gpt_create_here(0, &c, params);
    generate_here(0, text + prompt, count, text, prompt, temperature, seed);
    for (int i = 0; i < count; i++) {
        const double u = temperature > 0 ? random_uniform(&rng, 0.0f, 1.0f) : 0.0;
        expect_token(reference_logits(&r, text, prompt + i), c.vocab, text[prompt + i], temperature,
                     u, i);
    }
    generate_here(0, again, count, text, prompt, temperature, seed);
    expect(memcmp(again, text + prompt, (size_t)count * sizeof *again) == 0,
           "the same prompt and seed gave another text");
    gpt_free_here(0);
}

/* Without weights in the last normalization a logit is one number of wte, exactly. */
static void first_of_equals(const long *shape)
{
    enum { COUNT = 4 };
    const gpt_config c = gpt_config_of(shape);
    const size_t channels = (size_t)c.channels;
    float *params = gpt_random_params(&c);
    int prompt = 0, out[COUNT];
    for (size_t i = 0; i < channels; i++) {
        params[gpt_lnf_w(&c) + i] = 0.0f;
        params[gpt_lnf_b(&c) + i] = i == 0;
    }
    params[2 * channels] = params[4 * channels] = 5.0f;
    gpt_create_here(0, &c, params);
    generate_here(0, out, COUNT, &prompt, 1, 0.0f, 0);
    for (int i = 0; i < COUNT; i++)
        expect(out[i] == 2, "h_out[%d] is %d: 2 and 4 have the largest logit, and 2 is the first",
               i, out[i]);
    gpt_free_here(0);
}

/* With keys and values kept, the text is that of gpt_forward, which reads all of it anew. shape:
 * config, prompt, count */
static void as_without_cache(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int prompt = (int)shape[5], count = (int)shape[6], vocab = c.vocab, n = prompt + count;
    int *text = i32_array((size_t)n);
    float *logits = f32_array((size_t)n * (size_t)vocab);
    memcpy(text, random_i32((size_t)prompt, 0, vocab), (size_t)prompt * sizeof *text);
    gpt_create_here(0, &c, gpt_random_params(&c));
    generate_here(0, text + prompt, count, text, prompt, 0.0f, 0);
    gpt_forward_here(0, &c, NULL, logits, text, NULL, 1, n);
    for (int i = prompt; i < n; i++) {
        const float *row = logits + (size_t)(i - 1) * (size_t)vocab;
        float largest = -INFINITY;
        for (int v = 0; v < vocab; v++) largest = fmaxf(largest, row[v]);
        expect(text[i] >= 0 && text[i] < vocab && row[text[i]] >= largest - 1e-4f,
               "h_out[%d] is %d; gpt_forward, which keeps no keys, gives another token the largest "
               "logit",
               i - prompt, text[i]);
    }
    gpt_free_here(0);
}

/* Twice the tokens cost about twice the work. shape: config, tokens */
static void one_row_a_token(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int count = (int)shape[5], prompt = 1;
    int *out = i32_array(2 * (size_t)count);
    double work[2];
    gpt_create_here(0, &c, gpt_random_params(&c));
    for (int i = 0; i < 2; i++) {
        generate_here(0, out, (i + 1) * count, &prompt, 1, 0.0f, 0);
        work[i] = operations(call_counts());
    }
    expect(work[0] >= 0.5 * gpt_forward_flop(&c, count),
           "%d tokens took %.0f floating-point operations on the device, the products alone are "
           "%.0f",
           count, work[0], gpt_forward_flop(&c, count));
    expect(work[1] <= 2.6 * work[0],
           "%d tokens take %.2f times the floating-point operations of %d: the text is read again "
           "for each token",
           2 * count, work[1] / work[0], count);
    gpt_free_here(0);
}

/* Between a forward pass and its backward pass, a text is written. shape: config, batch, seq */
static void leaves_the_network(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int batch = (int)shape[5], seq = (int)shape[6];
    const size_t rows = (size_t)batch * (size_t)seq;
    const float *params = gpt_random_params(&c);
    const int *tokens = random_i32(rows, 0, c.vocab), *targets = random_i32(rows, 0, c.vocab);
    float *grads = f32_array(gpt_params(&c));
    int out[5];
    reference_gpt r = reference_gpt_create(&c, params);
    reference_gpt_forward(&r, tokens, targets, batch, seq);
    reference_gpt_backward(&r);
    gpt_create_here(0, &c, params);
    gpt_forward_here(0, &c, NULL, NULL, tokens, targets, batch, seq);
    generate_here(0, out, 5, tokens, 2, 1.0f, 3);
    gpt_backward_here(0);
    gpt_get_here("gpt_get_grads", 0, &c, grads);
    gpt_expect_arrays(&c, grads, r.grad, NULL, "after a text was written, the gradient of", NULL);
    gpt_free_here(0);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static void refuse_generate(int count, int prompt, float temperature)
{
    int out[3] = {0}, tokens[2] = {0};
    call_refused(INVALID, "gpt_generate",
                 ARGS(handle(0), host(out_i32("h_out", out, 3)), i32(count),
                      host(in_i32("h_prompt", tokens, 2)), i32(prompt), f32(temperature), u64(1),
                      stream()));
}

static void refuse_training(size_t count, int batch, int seq, int steps)
{
    float out[2];
    const gpt_training t = gpt_training_of(batch, seq, 2);
    const int *text = i32_array(count);
    call_refused(INVALID, "gpt_train",
                 ARGS(handle(0), host(out_f32("h_losses", out, 2)),
                      host(in_i32("h_tokens", text, count)), u64(count),
                      host(in_bytes("training", &t, sizeof t)), i32(steps), stream()));
    call_refused(INVALID, "gpt_validate",
                 ARGS(handle(0), host(out_f32("h_loss", out, 1)),
                      host(in_i32("h_tokens", text, count)), u64(count), i32(batch), i32(seq),
                      stream()));
}

/* shape: config; the last part of it is a text as short as it may be, which works */
static void refused(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int seq = c.context, prompt = 0;
    int out;
    float losses[2];
    const gpt_training t = gpt_training_of(1, seq, 2);
    gpt_create_here(0, &c, gpt_random_params(&c));
    refuse_generate(3, 0, 1.0f);
    refuse_generate(3, 1, NAN);
    refuse_generate(0, 1, -1.0f); /* of nothing, too */
    refuse_training((size_t)seq, 1, seq, 0);
    refuse_training(100 * (size_t)seq, 0, seq, 2);
    refuse_training(100 * (size_t)seq, 1, 0, 2);
    refuse_training(100 * (size_t)seq, 1, seq + 1, 2);
    generate_here(0, &out, 0, &prompt, 1, 1.0f, 1);
    train_here(0, &c, losses, random_i32((size_t)seq + 1, 0, c.vocab), (size_t)seq + 1, &t, 2);
    validate_here(0, random_i32(10 * (size_t)(seq + 1), 0, c.vocab), 10 * (size_t)(seq + 1), 1,
                  seq);
    gpt_free_here(0);
}

static const grading_case cases[] = {
    {.name = "learning rate", .run = learning_rate, .shape = {20, 5}, .once = true},
    {.name = "learning rate, no warmup", .run = learning_rate, .shape = {9, 0}, .once = true},
    {.name = "learning rate, all warmup", .run = learning_rate, .shape = {6, 6}, .once = true},
    {.name = "ten steps", .run = ten_steps, .shape = {19, 9, 2, 2, 12, 2, 9, 120, 1}, .once = true},
    {.name = "ten steps in three calls",
     .run = ten_steps,
     .shape = {11, 9, 1, 2, 8, 3, 5, 90, 3},
     .once = true},
    {.name = "validation", .run = validation, .shape = {13, 9, 1, 2, 8, 7, 520, 3}, .once = true},
    LONG_ROW("validation, long texts", validation, 3, 300, 1, 1, 2, 290, 5900, 2),
    {.name = "learns", .run = learns, .shape = {8, 12, 1, 2, 16, 4, 12, 50, 50}, .once = true},
    {.name = "learns, 2 layers of 64",
     .run = learns,
     .shape = {26, 32, 2, 4, 64, 16, 32, 300, 5},
     .where = ON_GPU,
     .once = true,
     .seconds = 60},
    {.name = "resume", .run = resume, .shape = {17, 13, 2, 2, 8, 13, 2, 2}, .once = true},
    {.name = "layout of a file", .run = layout_of_file, .shape = {7, 5, 1, 1, 4, 2}, .once = true},
    {.name = "damaged files", .run = damaged, .shape = {7, 5, 1, 1, 4}, .once = true},
    {.name = "writes, temperature 0",
     .run = writes,
     .shape = {23, 9, 3, 2, 12, 3, 60, 0},
     .once = true},
    {.name = "writes, the first of equals",
     .run = first_of_equals,
     .shape = {6, 8, 1, 1, 4},
     .once = true},
    {.name = "writes, drawn", .run = writes, .shape = {23, 12, 1, 2, 8, 2, 40, 80}, .once = true},
    {.name = "writes, temperature 0.01",
     .run = writes,
     .shape = {23, 12, 1, 2, 8, 2, 40, 1},
     .once = true},
    {.name = "writes, behind a long prompt",
     .run = writes,
     .shape = {11, 7, 1, 1, 5, 17, 4, 100},
     .once = true},
    {.name = "writes, without a past",
     .run = writes,
     .shape = {5, 1, 1, 1, 4, 2, 4, 0},
     .once = true},
    LONG_ROW("writes, long rows", writes, 1100, 4, 1, 1, 257, 1, 4, 0),
    LONG_ROW("writes, a long context", writes, 3, 1100, 1, 1, 4, 262, 2, 0),
    {.name = "writes as without a cache",
     .run = as_without_cache,
     .shape = {29, 24, 2, 2, 8, 4, 18},
     .once = true},
    {.name = "one row a token",
     .run = one_row_a_token,
     .shape = {8, 128, 1, 16, 64, 40},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "leaves the network",
     .run = leaves_the_network,
     .shape = {9, 7, 1, 1, 4, 2, 7},
     .once = true},
    {.name = "refused", .run = refused, .shape = {5, 4, 1, 1, 2}, .once = true},
    {0},
};

EXERCISE(509) = {
    .id = 509,
    .core = true,
    .name = "char_gpt",
    .file = "phase5_full_network/509_char_gpt/509_char_gpt.cu",
    .functions = {"gpt_learning_rate", "gpt_train", "gpt_validate", "gpt_generate", "gpt_save",
                  "gpt_load"},
    .prerequisites = {301, 303, 304, 311, 312, 508},
    .promises = {{"gpt_save", WAITS_FOR_ALL}},
    .host_copies = true,
    .own_prerequisites = true,
    .exponentials = true,
    .points = 30,
    .see = "writes, drawn",
    .cases = cases,
};
