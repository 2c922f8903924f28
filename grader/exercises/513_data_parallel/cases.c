/* 513_data_parallel: training by one GPU and by two, step by step against the same in double, in
 * parts too; parameters that are the same bits on all of them; and what must be refused. */
#include "exercises/shared/gpt/gpt_cases.h"

#include <stdio.h>
#include <string.h>

#define INVALID        1    /* cudaErrorInvalidValue */
#define INVALID_DEVICE 101  /* cudaErrorInvalidDevice */
#define LOSS_TOLERANCE 1e-4 /* of losses after some steps */
#define STEPS          6

/* A shape begins: vocab, context, layers, heads, channels. */

/* ---- the student's, by the number of the team -------------------------------------------------
 */

static void create_here(int team, const gpt_config *c, const float *params, int gpus)
{
    call_cuda("gpt_team_create", ARGS(handle_out(team), host(in_bytes("config", c, sizeof *c)),
                                      host(in_f32("h_params", params, gpt_params(c))), i32(gpus)));
}

static void free_here(int team)
{
    call_cuda("gpt_team_free", ARGS(handle(team)));
}

/* The products of a step are three times those of a forward pass, whoever makes them. */
static void train_here(int team, const gpt_config *c, float *losses, const int *text, size_t count,
                       const gpt_training *t, int steps)
{
    call_counted("gpt_team_train",
                 ARGS(handle(team), host(out_f32("h_losses", losses, (size_t)steps)),
                      host(in_i32("h_tokens", text, count)), u64(count),
                      host(in_bytes("training", t, sizeof *t)), i32(steps)));
    expect_operations("gpt_team_train", 3 * gpt_forward_flop(c, (double)steps * t->batch * t->seq));
}

/* By gpt_team_get_params, or gpt_team_get_grads. */
static const float *array_from(const char *function, int team, const gpt_config *c, int rank)
{
    const size_t n = gpt_params(c);
    float *array = f32_array(n);
    call_cuda(function, ARGS(handle(team), host(out_f32("h_array", array, n)), i32(rank)));
    return array;
}

static const float *params_of(int team, const gpt_config *c, int rank)
{
    return array_from("gpt_team_get_params", team, c, rank);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void expect_losses(const float *losses, int gpus, const gpt_config *c, const float *params,
                          const int *text, size_t training, const gpt_training *t)
{
    reference_gpt r = reference_gpt_create(c, params);
    for (int step = 0; step < STEPS; step++) {
        char what[64];
        snprintf(what, sizeof what, "of %d GPUs the loss of step %d", gpus, step);
        gpt_expect_loss(what, losses[step], reference_gpt_train_step(&r, text, training, t),
                        LOSS_TOLERANCE);
    }
}

static void expect_equal_params(int team, const gpt_config *c, int gpus)
{
    const float *first = params_of(team, c, 0);
    for (int rank = 1; rank < gpus; rank++) {
        const float *other = params_of(team, c, rank);
        for (size_t i = 0; i < gpt_params(c); i++) {
            expect(memcmp(first + i, other + i, sizeof *first) == 0,
                   "parameter %zu is %.9g on GPU 0 and %.9g on GPU %d: the networks drift apart", i,
                   first[i], other[i], rank);
        }
    }
}

/* Some steps, in so many calls. shape: config, batch, gpus, calls, count */
static void trains(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int batch = (int)shape[5], gpus = (int)shape[6], calls = (int)shape[7];
    const size_t count = (size_t)shape[8], training = count - count / 10;
    const gpt_training t = gpt_training_of(batch, c.context, STEPS);
    const float *params = gpt_random_params(&c);
    const int *text = random_i32(count, 0, c.vocab);
    float losses[STEPS];
    create_here(0, &c, params, gpus);
    for (int call = 0, done = 0; call < calls; call++) {
        const int steps = call + 1 == calls ? STEPS - done : STEPS / calls;
        train_here(0, &c, losses + done, text, count, &t, steps);
        done += steps;
    }
    expect_losses(losses, gpus, &c, params, text, training, &t);
    expect_equal_params(0, &c, gpus);
    free_here(0);
}

/* One step without clipping: Adam hides how long a gradient is, so that the losses of a sum are
 * those of a mean. shape: config, batch, gpus */
static void gradients(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int gpus = (int)shape[6];
    const size_t count = 90, training = count - count / 10;
    gpt_training t = gpt_training_of((int)shape[5], c.context, 1);
    const float *params = gpt_random_params(&c);
    const int *text = random_i32(count, 0, c.vocab);
    float loss;
    t.max_norm = 0.0f;
    reference_gpt r = reference_gpt_create(&c, params);
    reference_gpt_train_step(&r, text, training, &t);
    create_here(0, &c, params, gpus);
    train_here(0, &c, &loss, text, count, &t, 1);
    for (int rank = 0; rank < gpus; rank++)
        gpt_expect_gradients(GPT_TOLERANCE, GPT_TOLERANCE, &r,
                             array_from("gpt_team_get_grads", 0, &c, rank), NULL);
    free_here(0);
}

/* As process `rank`, whose share of the gradients of a step this is. */
static const float *gradients_of_rank(int rank, const gpt_config *c, const int *text, size_t count,
                                      gpt_training t)
{
    float loss;
    t.rank = rank;
    train_here(rank, c, &loss, text, count, &t, 1);
    return array_from("gpt_team_get_grads", rank, c, 0);
}

/* Processes that share a step: the mean of their gradients is that of all windows. Here they are
 * teams of one process, which know nothing of each other. shape: config, batch of each, GPUs of
 * each, processes */
static void gradients_of_processes(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int batch = (int)shape[5], gpus = (int)shape[6], ranks = (int)shape[7];
    const size_t count = 90, n = gpt_params(&c);
    gpt_training t = gpt_training_of(batch, c.context, 1);
    const float *params = gpt_random_params(&c);
    const int *text = random_i32(count, 0, c.vocab);
    float *mean = f32_array(n);
    t.max_norm = 0.0f;
    for (int rank = 0; rank < ranks; rank++) create_here(rank, &c, params, gpus);
    for (int rank = 0; rank < ranks; rank++) {
        const float *own = gradients_of_rank(rank, &c, text, count, t);
        free_here(rank);
        for (size_t i = 0; i < n; i++) mean[i] += own[i] / (float)ranks;
    }
    t.batch *= ranks;
    reference_gpt r = reference_gpt_create(&c, params);
    reference_gpt_train_step(&r, text, count - count / 10, &t);
    gpt_expect_gradients(GPT_TOLERANCE, GPT_TOLERANCE, &r, mean, NULL);
}

/* Before any step each GPU has the parameters that were given. shape: config, gpus */
static void begins_equal(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const int gpus = (int)shape[5];
    const float *params = gpt_random_params(&c);
    create_here(0, &c, params, gpus);
    for (int rank = 0; rank < gpus; rank++) {
        const float *got = params_of(0, &c, rank);
        for (size_t i = 0; i < gpt_params(&c); i++)
            expect(got[i] == params[i], "parameter %zu is %.9g on GPU %d, and %.9g was given", i,
                   got[i], rank, params[i]);
    }
    free_here(0);
}

static void refuse_create(const gpt_config *c, int gpus, int error)
{
    call_refused(error, "gpt_team_create",
                 ARGS(handle_out(1), host(in_bytes("config", c, sizeof *c)),
                      host(in_f32("h_params", gpt_random_params(c), gpt_params(c))), i32(gpus)));
}

static void refuse_training(size_t count, int batch, int seq)
{
    float out[1];
    const gpt_training t = gpt_training_of(batch, seq, 1);
    for (int steps = 0; steps < 2; steps++)
        call_refused(INVALID, "gpt_team_train",
                     ARGS(handle(0), host(out_f32("h_losses", out, 1)),
                          host(in_i32("h_tokens", i32_array(count), count)), u64(count),
                          host(in_bytes("training", &t, sizeof t)), i32(steps)));
}

static void refuse_rank(const gpt_config *c, int rank)
{
    const size_t n = gpt_params(c);
    call_refused(INVALID, "gpt_team_get_params",
                 ARGS(handle(0), host(out_f32("h_params", f32_array(n), n)), i32(rank)));
}

/* What is refused changes nothing. shape: config */
static void refused(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const float *params = gpt_random_params(&c);
    const size_t count = 100;
    const gpt_config bad = {c.vocab, c.context, c.layers, c.channels + 1, c.channels};
    create_here(0, &c, params, 2);
    refuse_create(&c, 0, INVALID);
    refuse_create(&c, -1, INVALID);
    refuse_create(&c, 9, INVALID);
    refuse_create(&bad, 2, INVALID);
    refuse_training(count, 3, c.context); /* which two GPUs cannot share */
    refuse_training(count, 0, c.context);
    refuse_training(count, -2, c.context);
    refuse_training(count, 2, 0);
    refuse_training(count, 2, c.context + 1);
    refuse_training((size_t)c.context, 2, c.context);
    refuse_rank(&c, -1);
    refuse_rank(&c, 2);
    const float *after = params_of(0, &c, 1);
    for (size_t i = 0; i < gpt_params(&c); i++)
        expect(after[i] == params[i], "a call that was refused changed parameter %zu", i);
    free_here(0);
}

/* A team of more GPUs than there are. shape: config */
static void too_many(const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    refuse_create(&c, 8, INVALID_DEVICE);
}

static const grading_case cases[] = {
    {.name = "begins equal", .run = begins_equal, .shape = {7, 5, 2, 1, 4, 2}, .once = true},
    {.name = "gradients, 1 GPU", .run = gradients, .shape = {11, 6, 2, 2, 8, 2, 1}, .once = true},
    {.name = "gradients, 2 GPUs", .run = gradients, .shape = {11, 6, 2, 2, 8, 4, 2}, .once = true},
    {.name = "trains, 1 GPU", .run = trains, .shape = {11, 6, 2, 2, 8, 2, 1, 1, 90}, .once = true},
    {.name = "trains, 2 GPUs", .run = trains, .shape = {11, 6, 2, 2, 8, 2, 2, 1, 90}, .once = true},
    {.name = "trains, 3 layers and a batch of 6",
     .run = trains,
     .shape = {13, 5, 3, 1, 4, 6, 2, 1, 70},
     .once = true},
    {.name = "trains in three calls",
     .run = trains,
     .shape = {9, 5, 1, 2, 8, 4, 2, 3, 80},
     .once = true},
    {.name = "gradients, 3 processes",
     .run = gradients_of_processes,
     .shape = {11, 6, 2, 2, 8, 2, 2, 3},
     .once = true},
    {.name = "refused", .run = refused, .shape = {5, 4, 1, 1, 2}, .once = true},
    {.name = "more GPUs than there are",
     .run = too_many,
     .shape = {5, 4, 1, 1, 2},
     .where = ON_SOFTGPU,
     .once = true},
    {0},
};

/* One step. shape: config, gpus, batch */
static void run_counted(const char *function, const long *shape)
{
    const gpt_config c = gpt_config_of(shape);
    const size_t count = 300;
    const gpt_training t = gpt_training_of((int)shape[6], c.context, 1);
    float loss;
    create_here(0, &c, gpt_random_params(&c), (int)shape[5]);
    call_cuda(function, ARGS(handle(0), host(out_f32("h_losses", &loss, 1)),
                             host(in_i32("h_tokens", random_i32(count, 0, c.vocab), count)),
                             u64(count), host(in_bytes("training", &t, sizeof t)), i32(1)));
    call_aside("gpt_team_free", ARGS(handle(0)));
}

#define PARAMS (61 * 12 + 8 * 12 + 2 * (12 * 12 * 12 + 13 * 12) + 2 * 12)

/* 16 windows of 16 tokens; as gpt_forward_flop. Softmax, GELU and their like count too: a GPU with
 * half of the windows counts 1.30 times half of this, one with all of them 2.57 times. */
#define PRODUCTS (3.0 * 2 * 16 * 16 * (12 * 64 * 64 + 64 * 64))

static const traffic_test traffic[] = {
    {.metric = {"bytes between devices", .relative_to = MINIMUM, .shape = "a step of 2 GPUs"},
     .function = "gpt_team_train",
     .run = run_counted,
     .shape = {61, 8, 2, 3, 12, 2, 2},
     .count = link_bytes,
     .ideal = 4.0 * PARAMS,
     .bound = AT_MOST,
     .least = 0.99, /* gradients that go through the host */
     .wanted = 1.1},
    {.metric = {"operations on the busiest GPU", .relative_to = "half of the products",
                .shape = "a step of 2 GPUs"},
     .function = "gpt_team_train",
     .run = run_counted,
     .shape = {64, 16, 1, 2, 64, 2, 16},
     .count = busiest_operations,
     .ideal = PRODUCTS / 2,
     .bound = AT_MOST,
     .wanted = 1.5},
    {0},
};

EXERCISE(513) = {
    .id = 513,
    .name = "data_parallel",
    .file = "phase5_full_network/513_data_parallel/513_data_parallel.cu",
    .functions = {"gpt_team_create", "gpt_team_train", "gpt_team_net", "gpt_team_get_params",
                  "gpt_team_get_grads", "gpt_team_free"},
    .promises = {{"gpt_team_train", HAS_WAITED}},
    .prerequisites = {415, 508, 509},
    .own_prerequisites = true,
    .devices = 2,
    .host_copies = true,
    .exponentials = true,
    .points = 15,
    .speed_points = 5,
    .cases = cases,
    .traffic = traffic,
};
