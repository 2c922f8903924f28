/* gpt_cases.c: parameters, calls and comparisons of 508 to 510. */
#include "gpt_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

gpt_config gpt_config_of(const long *shape)
{
    return (gpt_config){(int)shape[0], (int)shape[1], (int)shape[2], (int)shape[3], (int)shape[4]};
}

float *gpt_random_params(const gpt_config *c)
{
    float *params = f32_array(gpt_params(c));
    for (int i = 0; i < gpt_arrays(c); i++) {
        const gpt_array a = gpt_array_at(c, i);
        const size_t count = a.rows * a.cols;
        float *p = params + a.begin;
        random_fill_normal(case_random(), p, count, a.matrix ? 1.0f / sqrtf((float)a.cols) : 0.2f);
        const size_t length = strlen(a.name);
        const bool factor = !a.matrix && strncmp(a.name + length - 2, "_w", 2) == 0;
        for (size_t k = 0; factor && k < count; k++) p[k] += 1.0f; /* of a normalization */
    }
    return params;
}

/* ---- the student's network ------------------------------------------------------------------- */

double gpt_forward_flop(const gpt_config *c, double tokens)
{
    const double C = c->channels;
    return 2 * tokens * (c->layers * 12 * C * C + c->vocab * C);
}

void gpt_create_here(int net, const gpt_config *c, const float *params)
{
    call_cuda("gpt_create", ARGS(handle_out(net), host(in_bytes("config", c, sizeof *c)),
                                 host(in_f32("h_params", params, gpt_params(c)))));
}

void gpt_forward_here(int net, const gpt_config *c, float *loss, float *logits, const int *tokens,
                      const int *targets, int batch, int seq)
{
    const size_t n = (size_t)batch * (size_t)seq;
    call_cuda("gpt_forward",
              ARGS(handle(net), loss ? out_f32("d_loss", loss, 1) : null_pointer(),
                   logits ? out_f32("d_logits", logits, n * (size_t)c->vocab) : null_pointer(),
                   in_i32("d_tokens", tokens, n),
                   targets ? in_i32("d_targets", targets, n) : null_pointer(), i32(batch), i32(seq),
                   stream()));
}

void gpt_backward_here(int net)
{
    call_cuda("gpt_backward", ARGS(handle(net), stream()));
}

void gpt_update_here(int net, const reference_gpt *r, float lr, float weight_decay, float max_norm)
{
    call_cuda("gpt_update", ARGS(handle(net), f32(lr), f32((float)r->beta1), f32((float)r->beta2),
                                 f32((float)r->eps), f32(weight_decay), f32(max_norm), stream()));
}

void gpt_get_here(const char *function, int net, const gpt_config *c, float *out)
{
    call_cuda(function, ARGS(handle(net), host(out_f32(function + 8, out, gpt_params(c)))));
}

void gpt_free_here(int net)
{
    call_cuda("gpt_free", ARGS(handle(net)));
}

/* ---- judging --------------------------------------------------------------------------------- */

/* All gradients, as they would be if wte had those of one use alone. */
static const double *tied_half(const reference_gpt *r, bool logits)
{
    double *half = f64_array(gpt_params(&r->config));
    memcpy(half, r->grad, gpt_params(&r->config) * sizeof *half);
    for (size_t i = 0; i < gpt_wpe(&r->config); i++) {
        half[i] = logits ? r->head_grad[i] : r->grad[i] - r->head_grad[i];
    }
    return half;
}

void gpt_expect_gradients(double of_largest, double of_norm, const reference_gpt *r,
                          const float *got, const double *earlier)
{
    const size_t n = gpt_params(&r->config);
    double *sum = f64_array(n);
    for (size_t i = 0; earlier && i < n; i++) sum[i] = r->grad[i] + earlier[i];
    gpt_expect_arrays_within(
        of_largest, of_norm, &r->config, got, r->grad, NULL, "the gradient of",
        (gpt_suspicion[]){
            {"wte has the gradient of the logits alone", tied_half(r, true)},
            {"wte has the gradient of the embedding alone", tied_half(r, false)},
            {earlier ? "the gradients of the step before are still there" : NULL, sum},
            {NULL, NULL},
        });
}

void gpt_expect_loss(const char *what, float got, double want, double tolerance)
{
    expect(fabs(got - want) <= tolerance * fmax(1.0, fabs(want)), "%s is %.8g, should be %.8g",
           what, got, want);
}

void gpt_expect_first_loss(const gpt_config *c, float got)
{
    const double want = gpt_first_loss(c);
    expect(fabs(got - want) <= 0.1,
           "the first loss is %.4f; a network that knows nothing has ln %d + %d * 0.02^2 / 2 = "
           "%.4f, +- 0.1",
           got, c->vocab, c->channels, want);
}

static double largest_of(const double *x, size_t count)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* Would this mistake show here at all? */
static bool differs(const double *wrong, const double *want, size_t count, double bound)
{
    for (size_t i = 0; i < count; i++) {
        if (fabs(wrong[i] - want[i]) > 3 * bound) return true; /* no number is within both */
    }
    return false;
}

void gpt_expect_arrays_within(double of_largest, double of_norm, const gpt_config *c,
                              const float *got, const double *want, const double *slack,
                              const char *what, const gpt_suspicion *suspicions)
{
    const int arrays = gpt_arrays(c);
    for (int i = 0; i < arrays; i++) {
        /* A wrong gradient spoils all that are computed after it: those come last. */
        const gpt_array a = gpt_array_at(c, slack ? i : arrays - 1 - i);
        const size_t at = a.begin, count = a.rows * a.cols;
        const double largest = largest_of(want + at, count);
        char name[64];
        double *scale = f64_array(count);
        snprintf(name, sizeof name, "%s %s", what, a.name);
        for (size_t k = 0; k < count; k++) {
            scale[k] = largest + (slack ? slack[at + k] / of_largest : 0.0);
        }
        for (const gpt_suspicion *s = suspicions; s && s->words; s++) {
            if (differs(s->wrong + at, want + at, count, of_largest * largest))
                suspect(s->words, s->wrong + at);
        }
        const layout l = {name, a.rows, a.cols};
        expect_close(l, got + at, want + at, scale, of_largest);
        if (!slack) expect_norm_close(l, got + at, want + at, NULL, 0, of_norm);
    }
}

void gpt_expect_arrays(const gpt_config *c, const float *got, const double *want,
                       const double *slack, const char *what, const gpt_suspicion *suspicions)
{
    gpt_expect_arrays_within(GPT_TOLERANCE, GPT_TOLERANCE, c, got, want, slack, what, suspicions);
}

/* ---- training -------------------------------------------------------------------------------- */

gpt_training gpt_training_of(int batch, int seq, int steps)
{
    return (gpt_training){.batch = batch,
                          .seq = seq,
                          .steps = steps,
                          .warmup = steps / 3,
                          .lr = 3e-3f,
                          .last_lr = 3e-4f,
                          .weight_decay = 0.1f,
                          .max_norm = 1.0f,
                          .seed = random_u64(case_random())};
}

/* The windows of one step, as the contract draws them. */
static void draw_batch(int *tokens, int *targets, const int *text, size_t training,
                       const gpt_training *t, int step)
{
    random_state rng = random_seed(t->seed + (unsigned long long)step);
    for (int b = 0; b < t->batch; b++) {
        const int *window = text + random_below(&rng, training - (size_t)t->seq);
        for (int i = 0; i < t->seq; i++) {
            tokens[b * t->seq + i] = window[i];
            targets[b * t->seq + i] = window[i + 1];
        }
    }
}

double reference_gpt_train_step(reference_gpt *r, const int *text, size_t training,
                                const gpt_training *t)
{
    const size_t rows = (size_t)t->batch * (size_t)t->seq;
    int *tokens = i32_array(rows), *targets = i32_array(rows);
    const double done = (double)(r->step - t->warmup) / (t->steps - t->warmup);
    double lr = t->last_lr + 0.5 * (1 + cos(acos(-1.0) * done)) * ((double)t->lr - t->last_lr);
    if (r->step < t->warmup) lr = (double)t->lr * (r->step + 1) / t->warmup;
    draw_batch(tokens, targets, text, training, t, r->step);
    const double loss = reference_gpt_forward(r, tokens, targets, t->batch, t->seq);
    reference_gpt_backward(r);
    reference_gpt_update(r, lr, t->weight_decay, t->max_norm);
    return loss;
}
