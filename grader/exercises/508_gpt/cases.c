/* 508_gpt: a GPT against the same in double: loss, logits and the gradient of every parameter;
 * what a token can see; what one step leaves to the next; and AdamW in its groups. */
#include "exercises/shared/gpt/gpt_cases.h"

#include <math.h>
#include <string.h>

#define INVALID 1 /* cudaErrorInvalidValue */

/* A batch, and what the reference makes of it. */
typedef struct batch {
    int *tokens, *targets; /* [rows x seq] */
    int rows, seq;
} batch;

/* A shape begins: vocab, context, layers, heads, channels, rows, seq. */

static batch random_batch(const gpt_config *c, int rows, int seq)
{
    const size_t n = (size_t)rows * (size_t)seq;
    return (batch){random_i32(n, 0, c->vocab), random_i32(n, 0, c->vocab), rows, seq};
}

static float *array_for(const gpt_config *c)
{
    return f32_array(gpt_params(c));
}

/* ---- forward and backward -------------------------------------------------------------------- */

static const char *const mistakes[GPT_MISTAKES] = {
    [GPT_SCALE_OF_CHANNELS] =
        "scores are divided by the root of all channels, not of one head's channels",
    [GPT_NO_SCALE] = "scores are not divided by the root of a head's channels",
    [GPT_LOOKS_AHEAD] = "attention looks ahead: it is not causal",
    [GPT_NO_POSITIONS] = "the positions (wpe) are not added to the tokens",
    [GPT_NO_RESIDUAL] = "the residual is not added to the outputs of attention and the MLP",
    [GPT_RESIDUAL_OF_NORM] =
        "the residual is the output of a normalization: it should be its input",
    [GPT_NORM_OF_INPUT] = "the second normalization reads the input of the first, not the sum",
    [GPT_NO_GELU] = "the gelu between the two products of the MLP is left out",
    [GPT_NO_LAST_NORM] = "the last normalization, before the logits, is left out",
};

/* Of a forward pass that gave other logits. */
static void suspect_mistakes(const reference_gpt *r)
{
    for (gpt_mistake m = GPT_RIGHT + 1; m < GPT_MISTAKES; m++) {
        reference_gpt wrong = *r;
        wrong.mistake = m;
        reference_gpt_forward(&wrong, r->tokens, NULL, r->batch, r->seq);
        suspect(mistakes[m], wrong.logits);
    }
}

static void expect_logits(const reference_gpt *r, const float *logits)
{
    const size_t n = (size_t)r->batch * (size_t)r->seq, vocab = (size_t)r->config.vocab;
    const layout l = {"logits", n, vocab};
    if (!is_close(l, logits, r->logits, NULL, GPT_TOLERANCE)) suspect_mistakes(r);
    expect_norm_close(l, logits, r->logits, NULL, 0, FP32_NORM_TOLERANCE);
}

/* Loss, logits or neither: what is not wanted is no reason to skip the rest. */
static void forward_both(int net, reference_gpt *r, batch b, bool wants_loss, bool wants_logits)
{
    const gpt_config *c = &r->config;
    float loss, *logits = f32_array((size_t)b.rows * (size_t)b.seq * (size_t)c->vocab);
    const double want = reference_gpt_forward(r, b.tokens, b.targets, b.rows, b.seq);
    gpt_forward_here(net, c, wants_loss ? &loss : NULL, wants_logits ? logits : NULL, b.tokens,
                     b.targets, b.rows, b.seq);
    if (wants_logits) expect_logits(r, logits);
    if (wants_loss) gpt_expect_loss("the loss", loss, want, FP32_NORM_TOLERANCE);
}

/* Not nearly 0: no position from seq on had a part in the loss. */
static void expect_no_gradient_behind(const reference_gpt *r, const float *grads)
{
    const size_t channels = (size_t)r->config.channels, wpe = gpt_wpe(&r->config);
    const size_t end = wpe + (size_t)r->config.context * channels;
    for (size_t i = wpe + (size_t)r->seq * channels; i < end; i++) {
        expect(grads[i] == 0.0f,
               "the gradient of wpe[%zu][%zu] is %.3g, should be 0: the text has %d tokens",
               (i - wpe) / channels, (i - wpe) % channels, grads[i], r->seq);
    }
}

/* @param earlier gradients of the step before, or NULL */
static void backward_both(int net, reference_gpt *r, const double *earlier)
{
    float *grads = array_for(&r->config);
    reference_gpt_backward(r);
    gpt_backward_here(net);
    gpt_get_here("gpt_get_grads", net, &r->config, grads);
    gpt_expect_gradients(GPT_TOLERANCE, GPT_TOLERANCE, r, grads, earlier);
    expect_no_gradient_behind(r, grads);
}

static void gradients(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const float *params = gpt_random_params(&c);
    float *kept = array_for(&c);
    reference_gpt r = reference_gpt_create(&c, params);
    gpt_create_here(0, &c, params);
    gpt_get_here("gpt_get_params", 0, &c, kept);
    expect(memcmp(kept, params, gpt_params(&c) * sizeof *kept) == 0,
           "the parameters of a new network are not those that it was given");
    forward_both(0, &r, random_batch(&c, (int)shape[5], (int)shape[6]), true, true);
    backward_both(0, &r, NULL);
    gpt_free_here(0);
}

/* Batch after batch, larger and smaller, with a loss, logits, both, neither. Of the longer one
 * before, nothing is left. shape: as above, then rows and seq of the second batch */
static void steps_are_apart(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const float *params = gpt_random_params(&c);
    const size_t n = gpt_params(&c);
    double *earlier = f64_array(n);
    reference_gpt r = reference_gpt_create(&c, params);
    gpt_create_here(0, &c, params);
    for (int i = 0; i < 4; i++) {
        const bool second = i % 2 == 1;
        batch b = random_batch(&c, (int)shape[second ? 7 : 5], (int)shape[second ? 8 : 6]);
        forward_both(0, &r, b, i != 2, i != 1 && i != 2);
        backward_both(0, &r, i > 0 ? earlier : NULL);
        memcpy(earlier, r.grad, n * sizeof *earlier);
    }
    gpt_free_here(0);
}

/* Two at once, of other shapes; each goes back from its own forward pass. */
static void two_networks(const long *shape)
{
    const gpt_config c[2] = {gpt_config_of(shape), {7, 9, 1, 1, 6}};
    reference_gpt r[2];
    for (int i = 0; i < 2; i++) {
        const float *params = gpt_random_params(&c[i]);
        r[i] = reference_gpt_create(&c[i], params);
        gpt_create_here(i, &c[i], params);
    }
    for (int i = 0; i < 2; i++) {
        forward_both(i, &r[i], random_batch(&c[i], (int)shape[5], (int)shape[6]), true, false);
    }
    for (int i = 0; i < 2; i++) backward_both(i, &r[i], NULL);
    for (int i = 0; i < 2; i++) gpt_free_here(i);
}

/* ---- what a network knows -------------------------------------------------------------------- */

/* A new network holds every token for nearly equally likely. */
static void first_loss(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const batch b = random_batch(&c, (int)shape[5], (int)shape[6]);
    float *params = array_for(&c), loss;
    gpt_init(params, &c, random_u64(case_random()));
    gpt_create_here(0, &c, params);
    gpt_forward_here(0, &c, &loss, NULL, b.tokens, b.targets, b.rows, b.seq);
    gpt_expect_first_loss(&c, loss);
    gpt_free_here(0);
}

/* Where in a batch two arrays of logits differ first. @return n if they are equal */
static int first_difference(const float *a, const float *b, int from, int n, int vocab)
{
    while (from < n && memcmp(a + (size_t)from * vocab, b + (size_t)from * vocab,
                              (size_t)vocab * sizeof *a) == 0) {
        from++;
    }
    return from;
}

/* One token of one sequence is exchanged: what stands before it, and the other sequences, cannot
 * know, to the last bit; the logits behind it do. */
static void sees_the_past_only(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const batch b = random_batch(&c, (int)shape[5], (int)shape[6]);
    const int n = b.rows * b.seq, row = (int)random_below(case_random(), (uint64_t)b.rows);
    const int place = 1 + (int)random_below(case_random(), (uint64_t)b.seq - 1);
    const int begin = row * b.seq, changed = begin + place, end = begin + b.seq;
    float *logits = f32_array((size_t)n * c.vocab), *others = f32_array((size_t)n * c.vocab);
    gpt_create_here(0, &c, gpt_random_params(&c));
    gpt_forward_here(0, &c, NULL, logits, b.tokens, NULL, b.rows, b.seq);
    b.tokens[changed] = (b.tokens[changed] + 1) % c.vocab;
    gpt_forward_here(0, &c, NULL, others, b.tokens, NULL, b.rows, b.seq);
    const int first = first_difference(logits, others, 0, n, c.vocab);
    expect(first < n, "token %d of sequence %d was replaced, and no logit changed", place, row);
    expect(first >= begin, "a token of sequence %d was replaced, and logits of sequence %d changed",
           row, first / b.seq);
    expect(first >= changed,
           "token %d of sequence %d was replaced, and logits at %d, before it, changed: attention "
           "looks ahead",
           place, row, first - begin);
    for (int i = changed; i < end; i++) {
        expect(first_difference(logits, others, i, n, c.vocab) == i,
               "token %d of sequence %d was replaced, and the logits at %d did not change", place,
               row, i - begin);
    }
    expect(first_difference(logits, others, end, n, c.vocab) == n,
           "a token of sequence %d was replaced, and logits of a later one changed", row);
    gpt_free_here(0);
}

/* ---- updates --------------------------------------------------------------------------------- */

#define LR    3e-3f
#define DECAY 0.3f

/* @return the norm of all gradients */
static double norm_here(int net, const gpt_config *c)
{
    float *grads = array_for(c);
    double squares = 0.0;
    gpt_get_here("gpt_get_grads", net, c, grads);
    for (size_t i = 0; i < gpt_params(c); i++) squares += (double)grads[i] * grads[i];
    return sqrt(squares);
}

static double *copy_of(const double *x, size_t n)
{
    return memcpy(f64_array(n), x, n * sizeof *x);
}

/* The parameters after an update whose step is counted from 1 again. */
static const double *counted_from_one(reference_gpt r, float limit)
{
    const size_t n = gpt_params(&r.config);
    r.params = copy_of(r.params, n);
    r.grad = copy_of(r.grad, n);
    r.m = copy_of(r.m, n);
    r.v = copy_of(r.v, n);
    r.slack = f64_array(n);
    r.step = 0;
    reference_gpt_update(&r, LR, DECAY, limit);
    return r.params;
}

/* Some steps, each on a batch of its own. shape: as above, then steps, and per cent of the first
 * norm that are allowed; 0: any */
static void updates(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const float *params = gpt_random_params(&c);
    float *after = array_for(&c), limit = 0.0f;
    reference_gpt r = reference_gpt_create(&c, params);
    r.beta1 = 0.8f, r.beta2 = 0.9f, r.eps = 1e-6f; /* not the usual ones */
    gpt_create_here(0, &c, params);
    for (int step = 0; step < shape[7]; step++) {
        const batch b = random_batch(&c, (int)shape[5], (int)shape[6]);
        float loss;
        const double want = reference_gpt_forward(&r, b.tokens, b.targets, b.rows, b.seq);
        gpt_forward_here(0, &c, &loss, NULL, b.tokens, b.targets, b.rows, b.seq);
        gpt_expect_loss("the loss after some steps", loss, want, GPT_TOLERANCE);
        reference_gpt_backward(&r);
        gpt_backward_here(0);
        if (step == 0) limit = (float)(0.01 * (double)shape[8] * norm_here(0, &c));
        const gpt_suspicion step_stuck[] = {
            {step > 0 ? "AdamW takes every step for step 1: count the steps" : NULL,
             counted_from_one(r, limit)},
            {NULL, NULL},
        };
        const double norm = reference_gpt_update(&r, LR, DECAY, limit);
        gpt_update_here(0, &r, LR, DECAY, limit);
        if (limit > 0) {
            const double kept = fmin(norm, limit), now = norm_here(0, &c);
            expect(fabs(now - kept) <= GPT_TOLERANCE * kept,
                   "the gradients had a norm of %.6g, at most %.6g is allowed, and now it is %.6g",
                   norm, limit, now);
        }
        gpt_get_here("gpt_get_params", 0, &c, after);
        gpt_expect_arrays(&c, after, r.params, r.slack,
                          step == 0 ? "after 1 step," : "after steps,", step_stuck);
    }
    gpt_free_here(0);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static void refuse_config(gpt_config c)
{
    const float *params = f32_array(1000);
    call_refused(INVALID, "gpt_create",
                 ARGS(handle_out(1), host(in_bytes("config", &c, sizeof c)),
                      host(in_f32("h_params", params, 1000))));
}

static void refuse_forward(const gpt_config *c, int rows, int seq)
{
    const size_t n = 64;
    const int *tokens = i32_array(n);
    float loss = 7.0f, *logits = f32_array(n * (size_t)c->vocab);
    call_refused(INVALID, "gpt_forward",
                 ARGS(handle(0), inout_f32("d_loss", &loss, 1),
                      inout_f32("d_logits", logits, n * (size_t)c->vocab),
                      in_i32("d_tokens", tokens, n), in_i32("d_targets", tokens, n), i32(rows),
                      i32(seq), stream()));
    expect(loss == 7.0f, "a call that is refused wrote d_loss");
}

/* A refused call does nothing: the next one is as if it had not been. */
static void refused(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const float *params = gpt_random_params(&c);
    const int rows = (int)shape[5], seq = (int)shape[6];
    const batch b = random_batch(&c, rows, seq);
    reference_gpt r = reference_gpt_create(&c, params);
    refuse_config((gpt_config){5, 4, 1, 2, 3}); /* heads do not divide the channels */
    refuse_config((gpt_config){5, 4, 0, 1, 3});
    refuse_config((gpt_config){0, 4, 1, 1, 3});
    gpt_create_here(0, &c, params);
    call_refused(INVALID, "gpt_backward", ARGS(handle(0), stream()));
    refuse_forward(&c, 1, c.context + 1);
    refuse_forward(&c, 0, 1);
    refuse_forward(&c, 1, 0);
    forward_both(0, &r, b, true, true);
    refuse_forward(&c, 1, c.context + 1); /* the pass before it is still the last */
    backward_both(0, &r, NULL);
    float loss = 7.0f, *logits = f32_array((size_t)rows * (size_t)seq * (size_t)c.vocab);
    call_cuda("gpt_forward", ARGS(handle(0), inout_f32("d_loss", &loss, 1),
                                  out_f32("d_logits", logits, (size_t)(rows * seq * c.vocab)),
                                  in_i32("d_tokens", b.tokens, (size_t)(rows * seq)),
                                  null_pointer(), i32(rows), i32(seq), stream()));
    expect_logits(&r, logits);
    expect(loss == 7.0f, "without targets there is no loss, and d_loss was written");
    call_refused(INVALID, "gpt_backward", ARGS(handle(0), stream()));
    gpt_free_here(0);
}

static void nothing_to_free(const long *shape)
{
    call_cuda("gpt_free", ARGS(null_pointer()));
    gradients(shape);
}

static const grading_case cases[] = {
    {.name = "gradients", .run = gradients, .shape = {29, 11, 2, 2, 12, 2, 11}},
    {.name = "gradients, one token",
     .run = gradients,
     .shape = {13, 5, 2, 2, 8, 1, 1},
     .once = true},
    {.name = "gradients, one position",
     .run = gradients,
     .shape = {13, 1, 1, 1, 8, 5, 1},
     .once = true},
    {.name = "gradients, one sequence",
     .run = gradients,
     .shape = {13, 21, 1, 3, 15, 1, 17},
     .once = true},
    {.name = "gradients, heads of one channel",
     .run = gradients,
     .shape = {13, 9, 1, 6, 6, 2, 9},
     .once = true},
    {.name = "gradients, any",
     .run = gradients,
     .shape = {2, 35, 1, 1, 33, 1, 1},
     .most = {50, 40, 3, 0, 48, 3, 35},
     .once = true},
    LONG_ROW("gradients, long rows", gradients, 1030, 3, 1, 1, 4, 2, 2),
    LONG_ROW("gradients, many sequences", gradients, 3, 2, 1, 1, 6, 1030, 1),
    LONG_ROW("gradients, a long sequence", gradients, 3, 260, 1, 1, 4, 1, 259),
    {.name = "gradients, 4 layers of 128",
     .run = gradients,
     .shape = {256, 96, 4, 4, 128, 4, 64},
     .where = ON_GPU,
     .once = true,
     .seconds = 30},
    {.name = "steps are apart",
     .run = steps_are_apart,
     .shape = {17, 12, 2, 2, 8, 2, 12, 3, 5},
     .once = true},
    {.name = "two networks", .run = two_networks, .shape = {11, 8, 2, 2, 8, 2, 7}, .once = true},
    {.name = "first loss", .run = first_loss, .shape = {61, 16, 2, 2, 16, 4, 16}, .once = true},
    {.name = "sees the past only", .run = sees_the_past_only, .shape = {19, 14, 2, 2, 8, 3, 13}},
    {.name = "updates", .run = updates, .shape = {17, 9, 2, 2, 8, 2, 9, 3, 0}, .once = true},
    {.name = "updates, clipped",
     .run = updates,
     .shape = {17, 9, 1, 2, 8, 2, 7, 3, 40},
     .once = true},
    {.name = "updates, below the limit",
     .run = updates,
     .shape = {17, 9, 1, 2, 8, 2, 7, 1, 300},
     .once = true},
    {.name = "refused", .run = refused, .shape = {9, 6, 1, 1, 4, 2, 5}, .once = true},
    {.name = "nothing to free",
     .run = nothing_to_free,
     .shape = {5, 3, 1, 1, 6, 1, 3},
     .once = true},
    {0},
};

EXERCISE(508) = {
    .id = 508,
    .core = true,
    .name = "gpt",
    .file = "phase5_full_network/508_gpt/508_gpt.cu",
    .functions = {"gpt_create", "gpt_forward", "gpt_backward", "gpt_update", "gpt_get_grads",
                  "gpt_get_params", "gpt_free"},
    .promises = {{"gpt_create", WAITS_FOR_ALL},
                 {"gpt_get_grads", WAITS_FOR_ALL},
                 {"gpt_get_params", WAITS_FOR_ALL}},
    .prerequisites = {208, 301, 303, 305, 311, 312, 313, 314},
    .own_prerequisites = true,
    .exponentials = true,
    .points = 30,
    .see = "gradients, one sequence",
    .cases = cases,
};
