/* 510_gpt2: training steps of GPT-2 in bf16 against the same in double: loss, the gradient of
 * every parameter, and what AdamW makes of it; what one step leaves to the next; and memory. */
#include "exercises/shared/gpt/gpt_cases.h"
#include "exercises/shared/matmul_half_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INVALID 1 /* cudaErrorInvalidValue */
#define LR      3e-3f
#define DECAY   0.3f

/* How far bf16 may be off: a gradient, of the largest of its array; an array, of its norm; a loss,
 * of itself, where each token's share is rounded on its own. Honest kernels were seen at a half. */
#define ELEMENT_TOLERANCE 8e-2
#define NORM_TOLERANCE    3e-2
#define LOSS_TOLERANCE    4e-3
#define TOKEN_TOLERANCE   2e-2

typedef struct batch {
    int *tokens, *targets; /* [rows x seq] */
    int rows, seq;
} batch;

/* A shape begins: vocab, context, layers, heads, channels, rows, seq. */

static batch random_batch(const long *shape)
{
    const size_t n = (size_t)shape[5] * (size_t)shape[6];
    return (batch){random_i32(n, 0, (int)shape[0]), random_i32(n, 0, (int)shape[0]), (int)shape[5],
                   (int)shape[6]};
}

static float *array_for(const gpt_config *c)
{
    return f32_array(gpt_params(c));
}

/* ---- the student's networks, by number ------------------------------------------------------- */

static void create(int net, const long *shape, const float *params)
{
    const gpt_config c = gpt_config_of(shape);
    call_cuda("gpt2_create", ARGS(handle_out(net), host(in_bytes("config", &c, sizeof c)),
                                  host(in_f32("h_params", params, gpt_params(&c))),
                                  i32((int)shape[5]), i32((int)shape[6])));
}

typedef void caller(const char *function, argument *arguments, int count);

/* Of the tokens on one side, targets and loss on the other, one lies elsewhere than in the step
 * before: who captured the addresses of a step reads those.
 * @param call call_cuda or call_aside. @param loss NULL: not wanted */
static void step_by(caller *call, int net, float *loss, batch b, float lr, float decay,
                    float max_norm)
{
    static unsigned turn;
    const size_t n = (size_t)b.rows * (size_t)b.seq;
    const unsigned tokens_at = 4 * ((turn + 1) / 2 % 2), others_at = 4 * (turn / 2 % 2);
    turn++;
    call("gpt2_train_step",
         ARGS(handle(net), loss ? shifted(out_f32("d_loss", loss, 1), others_at) : null_pointer(),
              shifted(in_i32("d_tokens", b.tokens, n), tokens_at),
              shifted(in_i32("d_targets", b.targets, n), others_at), f32(lr), f32(0.9f), f32(0.95f),
              f32(1e-8f), f32(decay), f32(max_norm), stream()));
}

static void step(int net, float *loss, batch b, float lr, float decay, float max_norm)
{
    step_by(call_cuda, net, loss, b, lr, decay, max_norm);
}

static float *get(int net, const char *function, const gpt_config *c)
{
    float *out = array_for(c);
    call_cuda(function, ARGS(handle(net), host(out_f32(function + 9, out, gpt_params(c)))));
    return out;
}

static void release(int net)
{
    call_cuda("gpt2_free", ARGS(handle(net)));
}

/* ---- against double -------------------------------------------------------------------------- */

static void expect_loss(const char *what, float got, double want, batch b)
{
    gpt_expect_loss(what, got, want, LOSS_TOLERANCE + TOKEN_TOLERANCE / sqrt(b.rows * b.seq));
}

/* A network may magnify what it is given. If all parameters are rounded to bf16, a gradient mostly
 * moves by 0.8 % of its norm; in one draw of some hundred by 2 or 3 %, and then the roundings of an
 * honest kernel exceed NORM_TOLERANCE. Such a draw tells nothing about a kernel, so the batch is
 * drawn again. */
#define MAGNIFIES 1.2e-2
#define DRAWS     20

/* @return by how much of its norm the gradient of an array moves at most, if the parameters are
 * rounded to bf16. @param r after reference_gpt_backward for this batch */
static double moved_by_rounding(const reference_gpt *r, batch b)
{
    const gpt_config *c = &r->config;
    float *params = array_for(c);
    for (size_t i = 0; i < gpt_params(c); i++) {
        const float exact = (float)r->params[i];
        uint32_t bits;
        memcpy(&bits, &exact, sizeof bits);
        bits = (bits + 0x8000u) & 0xffff0000u; /* the upper half is the nearest bf16 */
        memcpy(&params[i], &bits, sizeof bits);
    }
    reference_gpt other = reference_gpt_create(c, params);
    reference_gpt_forward(&other, b.tokens, b.targets, b.rows, b.seq);
    reference_gpt_backward(&other);
    double largest = 0.0;
    for (int i = 0; i < gpt_arrays(c); i++) {
        const gpt_array a = gpt_array_at(c, i);
        double moved = 0.0, all = 0.0;
        for (size_t k = a.begin; k < a.begin + a.rows * a.cols; k++) {
            moved += (other.grad[k] - r->grad[k]) * (other.grad[k] - r->grad[k]);
            all += r->grad[k] * r->grad[k];
        }
        largest = fmax(largest, sqrt(moved / all));
    }
    return largest;
}

/* A batch, its loss and, in r, its gradients. */
static batch draw_batch(reference_gpt *r, double *loss, const long *shape)
{
    batch b = random_batch(shape);
    for (int i = 0;; i++, b = random_batch(shape)) {
        *loss = reference_gpt_forward(r, b.tokens, b.targets, b.rows, b.seq);
        reference_gpt_backward(r);
        if (i == DRAWS || moved_by_rounding(r, b) <= MAGNIFIES) return b;
    }
}

/* Some steps, each on a batch of its own. shape: as above, then steps, and per cent of the first
 * norm that are allowed; 0: any */
static void steps_from(const float *params, const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const size_t n = gpt_params(&c);
    double *earlier = f64_array(n), limit = 0.0;
    reference_gpt r = reference_gpt_create(&c, params);
    r.rounding = ELEMENT_TOLERANCE;
    create(0, shape, params);
    expect(memcmp(get(0, "gpt2_get_params", &c), params, n * sizeof *params) == 0,
           "the parameters of a new network are not those that it was given");
    for (int i = 0; i < shape[7]; i++) {
        float loss;
        double want;
        const batch b = draw_batch(&r, &want, shape);
        if (i == 0 && shape[8] > 0) {
            double squares = 0.0;
            for (size_t k = 0; k < n; k++) squares += r.grad[k] * r.grad[k];
            limit = 0.01 * (double)shape[8] * sqrt(squares);
        }
        reference_gpt_update(&r, LR, DECAY, limit); /* clips r.grad */
        step(0, &loss, b, LR, DECAY, (float)limit);
        expect_loss(i == 0 ? "the loss" : "the loss after some steps", loss, want, b);
        gpt_expect_gradients(ELEMENT_TOLERANCE, NORM_TOLERANCE, &r, get(0, "gpt2_get_grads", &c),
                             i > 0 ? earlier : NULL);
        const float *after = get(0, "gpt2_get_params", &c);
        gpt_expect_arrays(&c, after, r.params, r.slack, i == 0 ? "after 1 step," : "after steps,",
                          NULL);
        for (size_t k = 0; k < n; k++) r.params[k] = after[k]; /* rounding may not add up */
        memcpy(earlier, r.grad, n * sizeof *earlier);
    }
    release(0);
}

static void steps(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    steps_from(gpt_random_params(&c), shape);
}

/* Logits of about -200, and of token 7, the last of the first 8, -100. A softmax relative to any
 * other number than this maximum, be it 0, overflows. */
static void large_logits(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    float *params = gpt_random_params(&c);
    const gpt_array bias = gpt_array_at(&c, gpt_arrays(&c) - 1); /* of the last normalization */
    params[bias.begin] = 400.0f;
    for (int token = 0; token < c.vocab; token++)
        params[token * c.channels] = token == 7 ? -0.25f : -0.5f;
    steps_from(params, shape);
}

/* ---- what a network knows -------------------------------------------------------------------- */

/* A new network holds every token for nearly equally likely. */
static void expect_first_loss(const long *shape, const float *params)
{
    const gpt_config c = gpt_config_of(shape);
    float loss;
    create(0, shape, params);
    step(0, &loss, random_batch(shape), LR, 0.0f, 0.0f);
    gpt_expect_first_loss(&c, loss);
    release(0);
}

static void first_loss(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    float *params = array_for(&c);
    gpt_init(params, &c, random_u64(case_random()));
    expect_first_loss(shape, params);
}

/* Drawn once: there are 124 million. */
static const float *large_params(const gpt_config *c)
{
    static float *params;
    if (params) return params;
    params = malloc(gpt_params(c) * sizeof *params);
    if (!params) fail("the grader has no memory for the parameters");
    gpt_init(params, c, random_u64(case_random()));
    return params;
}

static void large_first_loss(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    expect_first_loss(shape, large_params(&c));
}

/* One batch, again and again. shape: as above, then steps */
static void learns(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const batch b = random_batch(shape);
    float *params = array_for(&c), first, last = 0.0f;
    gpt_init(params, &c, random_u64(case_random()));
    create(0, shape, params);
    step(0, &first, b, LR, 0.0f, 1.0f);
    for (int i = 1; i < shape[7]; i++) step(0, &last, b, LR, 0.0f, 1.0f);
    expect(last <= 0.8 * first, "the loss is %.4f at first, and %.4f in step %ld on the same batch",
           first, last, shape[7]);
    release(0);
}

/* Another target at one place: nothing that stands behind it has a part in its loss. */
static void sees_the_past_only(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const batch b = random_batch(shape);
    const int C = c.channels, place = b.seq / 2;
    const float *params = gpt_random_params(&c), *grads[2];
    double largest = 0.0;
    for (int i = 0; i < 2; i++) {
        create(i, shape, params);
        step(i, NULL, b, LR, 0.0f, 0.0f);
        grads[i] = get(i, "gpt2_get_grads", &c) + gpt_wpe(&c);
        b.targets[place] = (b.targets[place] + 1) % c.vocab;
        release(i);
    }
    for (int i = 0; i < b.seq * C; i++) largest = fmax(largest, fabs(grads[0][i]));
    for (int t = 0; t < b.seq; t++) {
        double change = 0.0;
        for (int i = t * C; i < (t + 1) * C; i++)
            change = fmax(change, fabs((double)grads[0][i] - grads[1][i]));
        if (t <= place)
            expect(change > 0.0,
                   "target %d was replaced, and the gradient of position %d did not "
                   "change",
                   place, t);
        else
            expect(change <= 1e-4 * largest,
                   "target %d was replaced, and the gradient of position %d, behind it, changed: "
                   "attention looks ahead",
                   place, t);
    }
}

/* Two networks in turn, and one of them without a loss. shape: as above, then steps */
static void same_bits(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const size_t bytes = gpt_params(&c) * sizeof(float);
    const float *params = gpt_random_params(&c);
    for (int i = 0; i < 2; i++) create(i, shape, params);
    for (int k = 0; k < shape[7]; k++) {
        const batch b = random_batch(shape);
        float loss;
        step(0, &loss, b, LR, DECAY, 1.0f);
        step(1, NULL, b, LR, DECAY, 1.0f);
    }
    expect(memcmp(get(0, "gpt2_get_grads", &c), get(1, "gpt2_get_grads", &c), bytes) == 0,
           "the same steps gave other gradients");
    expect(memcmp(get(0, "gpt2_get_params", &c), get(1, "gpt2_get_params", &c), bytes) == 0,
           "the same steps gave other parameters");
    for (int i = 0; i < 2; i++) release(i);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static double taken_bytes(void)
{
    int available[2], all[2]; /* a size_t each */
    unsigned long long bytes;
    call_cuda("cudaMemGetInfo",
              ARGS(host(out_i32("free", available, 2)), host(out_i32("total", all, 2))));
    memcpy(&bytes, available, sizeof bytes);
    return -(double)bytes;
}

static void expect_account(double before, const char *when)
{
    const double taken = taken_bytes() - before;
    const double said = (double)call_returning_u64("gpt2_device_bytes", ARGS(handle(0)));
    expect(fabs(said - taken) <= 4096.0 + 1e-3 * taken,
           "gpt2_device_bytes is %.0f %s; the network has allocated %.0f bytes", said, when, taken);
}

static void device_bytes(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const float *params = gpt_random_params(&c);
    create(0, shape, params); /* what a runtime takes for itself at first is not of interest */
    step(0, NULL, random_batch(shape), LR, DECAY, 1.0f);
    release(0);
    const double before = taken_bytes();
    create(0, shape, params);
    expect_account(before, "after gpt2_create");
    for (int i = 0; i < 2; i++) step(0, NULL, random_batch(shape), LR, DECAY, 1.0f);
    expect_account(before, "after steps");
    release(0);
    expect(taken_bytes() <= before, "gpt2_free leaves %.0f bytes of device memory allocated",
           taken_bytes() - before);
}

/* Of a network that is made and not used: parameters and means in fp32, weights in bf16, 18
 * activations of [tokens x channels] a layer in bf16 and 16 besides, a third of the logits in
 * bf16. */
static void no_squares(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const double n = (double)shape[5] * (double)shape[6], width = n * c.channels;
    const double most = 18.0 * (double)gpt_params(&c) + 2 * width * (18 * c.layers + 16) +
                        2 * n * c.vocab / 3 + 40 * n * c.layers +
                        64.0 * c.channels * c.channels * 4;
    create(0, shape, gpt_random_params(&c));
    const double said = (double)call_returning_u64("gpt2_device_bytes", ARGS(handle(0)));
    release(0);
    expect(said <= most,
           "the network holds %.1f MB, at most %.1f are allowed: an array of vocab for each token, "
           "of seq x seq for each head, or activations in fp32?",
           1e-6 * said, 1e-6 * most);
    note("%.1f of %.1f MB", 1e-6 * said, 1e-6 * most);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static void refuse(gpt_config c, int rows, int seq)
{
    enum { ROOM = 500000 }; /* for all of these */
    const float *params = f32_array(ROOM);
    call_refused(INVALID, "gpt2_create",
                 ARGS(handle_out(1), host(in_bytes("config", &c, sizeof c)),
                      host(in_f32("h_params", params, ROOM)), i32(rows), i32(seq)));
}

/* After what was refused, a network works as ever. */
static void refused(const long *shape)
{
    const gpt_config c = {5, 4, 1, 1, 64};
    refuse((gpt_config){5, 4, 1, 3, 64}, 1, 4); /* heads do not divide the channels */
    refuse((gpt_config){5, 4, 1, 2, 64}, 1, 4); /* heads of 32 */
    refuse((gpt_config){5, 4, 1, 1, 192}, 1, 4);
    refuse((gpt_config){5, 4, 0, 1, 64}, 1, 4);
    refuse(c, 0, 4);
    refuse(c, 1, 0);
    refuse(c, 1, 5);
    call_cuda("gpt2_free", ARGS(null_pointer()));
    steps(shape);
}

static const grading_case cases[] = {
    {.name = "one step", .run = steps, .shape = {53, 17, 1, 1, 64, 2, 17, 1}, .once = true},
    {.name = "one token", .run = steps, .shape = {13, 3, 1, 1, 64, 1, 1, 1}, .once = true},
    {.name = "two heads", .run = steps, .shape = {67, 12, 1, 2, 128, 2, 9, 1}, .once = true},
    {.name = "two layers", .run = steps, .shape = {24, 6, 2, 1, 64, 2, 6, 1}, .once = true},
    {.name = "a head of 128", .run = steps, .shape = {16, 5, 1, 1, 128, 3, 5, 1}, .once = true},
    {.name = "sequence of 65", .run = steps, .shape = {100, 65, 1, 1, 64, 1, 65, 1}, .once = true},
    {.name = "260 tokens", .run = steps, .shape = {50, 65, 1, 1, 64, 4, 65, 1}, .once = true},
    LONG_ROW("vocabulary of 2053", steps, 2053, 9, 1, 1, 64, 1, 9, 1),
    LONG_ROW("large logits", large_logits, 53, 9, 1, 1, 64, 2, 9, 1),
    {.name = "three steps", .run = steps, .shape = {31, 8, 1, 1, 64, 3, 7, 3}, .once = true},
    {.name = "clipped", .run = steps, .shape = {31, 8, 1, 1, 64, 3, 7, 2, 40}, .once = true},
    {.name = "below the limit",
     .run = steps,
     .shape = {31, 8, 1, 1, 64, 1, 8, 1, 300},
     .once = true},
    {.name = "first loss", .run = first_loss, .shape = {61, 16, 1, 1, 64, 4, 16}, .once = true},
    {.name = "learns", .run = learns, .shape = {16, 8, 1, 1, 64, 1, 8, 5}, .once = true},
    {.name = "sees the past only",
     .run = sees_the_past_only,
     .shape = {29, 13, 1, 1, 64, 1, 13},
     .once = true},
    {.name = "same bits", .run = same_bits, .shape = {11, 20, 1, 1, 64, 2, 20, 2}, .once = true},
    {.name = "device bytes",
     .run = device_bytes,
     .shape = {40, 16, 1, 1, 64, 1, 16},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "no squares",
     .run = no_squares,
     .shape = {8000, 1024, 4, 1, 64, 4, 1024},
     .once = true},
    {.name = "refused", .run = refused, .shape = {9, 6, 1, 1, 64, 2, 5, 1}, .once = true},
    {.name = "4 layers of 256",
     .run = steps,
     .shape = {1000, 128, 4, 4, 256, 2, 100, 2},
     .where = ON_GPU,
     .once = true,
     .seconds = 30},
    {.name = "sequences of 128",
     .run = steps,
     .shape = {300, 128, 2, 4, 256, 3, 128, 1},
     .where = ON_GPU,
     .once = true,
     .seconds = 30},
    {.name = "many logits",
     .run = steps,
     .shape = {5003, 256, 1, 1, 64, 5, 250, 1},
     .where = ON_GPU,
     .once = true,
     .seconds = 30},
    {.name = "first loss, 124M",
     .run = large_first_loss,
     .shape = {50257, 1024, 12, 12, 768, 4, 1024},
     .where = ON_GPU,
     .once = true,
     .seconds = 60},
    {0},
};

/* ---- speed and counts ------------------------------------------------------------------------ */

#define TIMED 2    /* a network of its own */
#define SIDE  4096 /* of the product beside it, whose rows are proportional to the sequences */

/* As call_aside; the network of the run before is freed first. */
static void create_aside(const long *shape, const float *params)
{
    const gpt_config c = gpt_config_of(shape);
    call_aside("gpt2_free", ARGS(handle(TIMED))); /* NULL at first */
    call_aside("gpt2_create", ARGS(handle_out(TIMED), host(in_bytes("config", &c, sizeof c)),
                                   host(in_f32("h_params", params, gpt_params(&c))),
                                   i32((int)shape[5]), i32((int)shape[6])));
}

/* One step, against double. */
static void run_counted(const char *function, const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const size_t n = gpt_params(&c);
    const float *params = gpt_random_params(&c);
    const batch b = random_batch(shape);
    float loss, *grads = f32_array(n);
    (void)function;
    create_aside(shape, params);
    step(TIMED, &loss, b, LR, DECAY, 0.0f);
    call_aside("gpt2_get_grads", ARGS(handle(TIMED), host(out_f32("h_grads", grads, n))));
    reference_gpt r = reference_gpt_create(&c, params);
    expect_loss("the loss", loss, reference_gpt_forward(&r, b.tokens, b.targets, b.rows, b.seq), b);
    reference_gpt_backward(&r);
    gpt_expect_gradients(ELEMENT_TOLERANCE, NORM_TOLERANCE, &r, grads, NULL);
}

#define TIMED_LR 1e-4f

/* For 124 million parameters the reference would take hours. So three steps on one batch are made,
 * the second is timed, and each must find a smaller loss than the one before. */
static void run_timed(const char *function, const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const long product[] = {shape[5] * SIDE / 32, SIDE, SIDE};
    float loss[3];
    if (strncmp(function, "baseline_", 9) == 0) {
        half_timed(function, product);
        return;
    }
    const batch b = random_batch(shape);
    create_aside(shape, large_params(&c));
    for (int i = 0; i < 3; i++)
        step_by(i == 1 ? call_cuda : call_aside, TIMED, &loss[i], b, TIMED_LR, 0.1f, 1.0f);
    gpt_expect_first_loss(&c, loss[0]);
    expect(loss[1] < loss[0] && loss[2] < loss[1],
           "three steps on one batch have losses of %.4f, %.4f, %.4f; they should fall", loss[0],
           loss[1], loss[2]);
}

/* Six for each parameter that is multiplied, and attention below the diagonal: forward and back. */
#define TOKENS     (32.0 * 1024)
#define MULTIPLIED (12 * 12 * 768.0 * 768 + 50257 * 768.0)
#define STEP_FLOP  (TOKENS * (6 * MULTIPLIED + 6 * 12 * 768.0 * 1024))

/* Rates of arithmetic. The baseline's is known by the bytes of its three matrices. */
static const speed_test speed[] = {
    {.metric = {"FLOP rate", .relative_to = "402", .shape = "124M, 32 × 1024 tokens"},
     .function = "gpt2_train_step",
     .baseline = "baseline_matmul_tensorcore",
     .run = run_timed,
     .shape = {50257, 1024, 12, 12, 768, 32, 1024},
     .varied = 5,
     .where = ON_GPU,
     .threshold = 1.15, /* 250,000 tokens a second on an H200 */
     .work = STEP_FLOP,
     .baseline_work = 2.0 * SIDE * SIDE * SIDE,
     .flop = STEP_FLOP,
     .precision = IN_HALF,
     .capability = 90,
     .peer_share = 0.04,
     .peer_bytes = 4096.0 * 4096 * (2 + 2 + 4)},
    {0},
};

/* Of a layer of 64 channels and a vocabulary of 64, with 4 sequences of 64. */
#define COUNTED                                                                                    \
    {                                                                                              \
        64, 64, 1, 1, 64, 4, 64                                                                    \
    }
#define PRODUCTS    (6 * 256 * (12 * 64.0 * 64 + 64 * 64) / 8192) /* of wmma, of two mma each */
#define ACTIVATIONS (256 * 64 * 2.0)                              /* bytes of [tokens x channels] */

static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .relative_to = "those of all products",
                .shape = "1 layer, 4 × 64 tokens"},
     .function = "gpt2_train_step",
     .run = run_counted,
     .shape = COUNTED,
     .varied = 5,
     .count = tensor_instructions,
     .ideal = PRODUCTS,
     .bound = AT_LEAST,
     .multiplications = PRODUCTS * 4096,
     .wanted = 1.0},
    {.metric = {"bytes stored", .relative_to = "bytes of an activation",
                .shape = "1 layer, 4 × 64 tokens"},
     .function = "gpt2_train_step",
     .run = run_counted,
     .shape = COUNTED,
     .count = stored_bytes,
     .ideal = ACTIVATIONS,
     .bound = AT_MOST,
     .wanted = 100},
    {.metric = {"bytes allocated by a step", .relative_to = "bytes of an activation",
                .shape = "1 layer, 4 × 64 tokens"},
     .function = "gpt2_train_step",
     .run = run_counted,
     .shape = COUNTED,
     .count = allocated_bytes,
     .ideal = ACTIVATIONS,
     .bound = AT_MOST,
     .wanted = 1.0,
     .begin = 1.25},
    {0},
};

EXERCISE(510) = {
    .id = 510,
    .name = "gpt2",
    .file = "phase5_full_network/510_gpt2/510_gpt2.cu",
    .parts = {"phase5_full_network/510_gpt2/510_product.cuh",
              "phase5_full_network/510_gpt2/510_hopper.cuh",
              "phase5_full_network/510_gpt2/510_rows.cuh",
              "phase5_full_network/510_gpt2/510_tokens.cuh"},
    .functions = {"gpt2_create", "gpt2_train_step", "gpt2_get_grads", "gpt2_get_params",
                  "gpt2_device_bytes", "gpt2_free"},
    .prerequisites = {208, 314, CHALLENGE(3, 'a'), CHALLENGE(4, 'c'), CHALLENGE(4, 'd'),
                      CHALLENGE(4, 'i'), CHALLENGE(4, 'j')},
    .sm_90a = true,
    .promises = {{"gpt2_create", HAS_WAITED},
                 {"gpt2_train_step", ALLOCATES_ON_ITS_STREAM},
                 {"gpt2_get_grads", WAITS_FOR_ALL},
                 {"gpt2_get_params", WAITS_FOR_ALL}},
    .own_prerequisites = true,
    .exponentials = true,
    .baseline_file = "grader/exercises/4a_matmul_mma/baseline.cu",
    .points = 30,
    .speed_points = 15,
    .see = "one step",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
