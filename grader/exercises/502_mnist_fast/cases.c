/* 502_mnist_fast: whole epochs of 501's network, step by step as the reference in double;
 * launches for an epoch; on a GPU the accuracy after five epochs. Test images and labels stay
 * here. shape: images, then of each epoch: places in its order, batch */
#include "exercises/shared/mlp/mlp_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RUNS       3  /* right fp32 takes another branch of ReLU than the reference: not so often */
#define EPOCHS_MAX 4  /* of a case */
#define STEPS_MAX  64 /* of an epoch of a case */
#define BATCH_MOST 1024
#define SHIFTS     64 /* places at which an array may begin */

enum { NETWORK, SECOND_NETWORK }; /* handles */

/* What a network learns from. */
typedef struct data {
    unsigned char *pixels; /* [count x MLP_INPUTS] */
    float *x;              /* the same, as 501 is given them */
    int *labels, count;
    const float *params;
} data;

typedef struct epoch {
    int *order, n, batch;
    float first_lr, last_lr;
    double want[STEPS_MAX]; /* losses, by the reference */
    float got[STEPS_MAX];
} epoch;

static data draw_data(int count)
{
    const size_t size = (size_t)count * MLP_INPUTS;
    data d = {.count = count, .x = f32_array(size), .params = mlp_random_params(1.5f)};
    d.labels = mlp_draw(d.x, count);
    d.pixels = (unsigned char *)i32_array(size / sizeof(int) + 1);
    for (size_t i = 0; i < size; i++) d.pixels[i] = (unsigned char)lrintf(255.0f * d.x[i]);
    return d;
}

/* Some images more than once, some not at all. */
static epoch draw_epoch(const data *d, long n, long batch)
{
    epoch e = {.n = (int)n, .batch = (int)batch, .order = random_i32((size_t)n, 0, d->count)};
    e.first_lr = random_uniform(case_random(), 5e-4f, 2e-3f);
    e.last_lr = random_uniform(case_random(), 0.0f, 3e-3f);
    return e;
}

static int steps_of(const epoch *e)
{
    return (e->n + e->batch - 1) / e->batch;
}

/* ---- the reference --------------------------------------------------------------------------- */

static double reference_step(reference_mlp *net, const data *d, const int *order, int rows,
                             double lr)
{
    float *x = f32_array((size_t)rows * MLP_INPUTS);
    int *labels = i32_array((size_t)rows);
    for (int row = 0; row < rows; row++) {
        memcpy(x + (size_t)row * MLP_INPUTS, d->x + (size_t)order[row] * MLP_INPUTS,
               MLP_INPUTS * sizeof *x);
        labels[row] = d->labels[order[row]];
    }
    return reference_mlp_train(net, x, labels, rows, (float)lr);
}

static void reference_epoch(reference_mlp *net, const data *d, epoch *e)
{
    const int steps = steps_of(e);
    for (int i = 0; i < steps; i++) {
        const int first = i * e->batch, left = e->n - first;
        const double lr = e->first_lr + ((double)e->last_lr - e->first_lr) * i / steps;
        e->want[i] =
            reference_step(net, d, e->order + first, left < e->batch ? left : e->batch, lr);
    }
}

/* ---- the student's --------------------------------------------------------------------------- */

static void create(int number, const data *d)
{
    call_aside("mlp_fast_create",
               ARGS(handle_out(number), host(in_f32("h_params", d->params, MLP_PARAMS)),
                    host(in_bytes("h_images", d->pixels, (size_t)d->count * MLP_INPUTS)),
                    host(in_i32("h_labels", d->labels, (size_t)d->count)), i32(d->count)));
}

static void train_at(void (*call)(const char *, argument *, int), int number, epoch *e,
                     unsigned losses_at, unsigned order_at)
{
    call("mlp_fast_train_epoch",
         ARGS(handle(number), shifted(out_f32("d_losses", e->got, (size_t)steps_of(e)), losses_at),
              shifted(in_i32("d_order", e->order, (size_t)e->n), order_at), i32(e->n),
              i32(e->batch), f32(e->first_lr), f32(e->last_lr), stream()));
}

/* Arrays lie elsewhere each time: who captured the addresses of the last epoch reads those. */
static void train_by(void (*call)(const char *, argument *, int), int number, epoch *e)
{
    static unsigned turn;
    const unsigned at = 4 * (turn++ % SHIFTS);
    train_at(call, number, e, at, 4 * SHIFTS - at);
}

static void train(int number, epoch *e)
{
    train_by(call_counted, number, e);
    mlp_expect_operations("mlp_fast_train_epoch", e->n, 0);
}

static float *params_of(int number)
{
    float *params = f32_array(MLP_PARAMS);
    call_aside("mlp_fast_get_params",
               ARGS(handle(number), host(out_f32("h_params", params, MLP_PARAMS))));
    return params;
}

static void destroy(int number)
{
    call_aside("mlp_fast_free", ARGS(handle(number)));
}

/* @param first, later what may be wrong, if the first loss or a later one is */
static void expect_losses_or(const epoch *e, const char *first, const char *later)
{
    for (int i = 0; i < steps_of(e); i++) {
        expect(fabs(e->got[i] - e->want[i]) <= MLP_TOLERANCE * e->want[i],
               "d_losses[%d] of %d, batches of %d out of %d images, is %.8g, should be %.8g; %s", i,
               steps_of(e), e->batch, e->n, e->got[i], e->want[i], i == 0 ? first : later);
    }
}

/* @param epochs that the network has seen */
static void expect_losses(const epoch *e, int epochs)
{
    const char *const later =
        "the first loss was right: look at the gradients, learn, or the images of a later step";
    expect_losses_or(
        e,
        epochs == 0
            ? "nothing is learnt before it: look at forward, the loss, or the images that they take"
            : later,
        later);
}

/* @return words for a mistake that leads to these parameters, or "" */
static const char *mistake_of(const data *d, const epoch *epochs, int count, const float *params)
{
    for (mlp_mistake m = MLP_RIGHT + 1; m < MLP_MISTAKES; m++) {
        reference_mlp wrong = reference_mlp_create(d->params);
        wrong.mistake = m;
        for (int i = 0; i < count; i++) {
            epoch e = epochs[i];
            reference_epoch(&wrong, d, &e);
        }
        if (mlp_params_agree(&wrong, params)) return mlp_mistake_words(m);
    }
    return "";
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Epochs and where they lead to, by the reference; not where a number comes so close to 0 that
 * right fp32 may well take the other branch of ReLU. @return how many epochs */
static int draw_run(data *d, epoch *epochs, reference_mlp *after, const long *shape)
{
    int count;
    do {
        *d = draw_data((int)shape[0]);
        *after = reference_mlp_create(d->params);
        for (count = 0; count < EPOCHS_MAX && shape[1 + 2 * count] > 0; count++) {
            epochs[count] = draw_epoch(d, shape[1 + 2 * count], shape[2 + 2 * count]);
            reference_epoch(after, d, &epochs[count]);
        }
    } while (after->nearest < MLP_SAFE_MARGIN);
    return count;
}

static void run_epochs(const long *shape)
{
    data d;
    epoch epochs[EPOCHS_MAX];
    reference_mlp after;
    const float *params;
    const char *mistake = "";
    int run = 0;
    do {
        const int count = draw_run(&d, epochs, &after, shape);
        create(NETWORK, &d);
        for (int i = 0; i < count; i++) {
            train(NETWORK, &epochs[i]);
            expect_losses(&epochs[i], i);
        }
        params = params_of(NETWORK);
        destroy(NETWORK);
        if (mlp_params_agree(&after, params)) return;
        mistake = mistake_of(&d, epochs, count, params);
    } while (++run < RUNS);
    if (*mistake) fail("the parameters after the last epoch are wrong%s", mistake);
    mlp_expect_these(&after, params, "after the last epoch");
}

/* One class is so sure that its exponential overflows a float. */
static void run_sure(const long *shape)
{
    data d = draw_data((int)shape[0]);
    float *params = f32_array(MLP_PARAMS);
    memcpy(params, d.params, MLP_PARAMS * sizeof *params);
    params[MLP_PARAMS - 1 - random_below(case_random(), MLP_CLASSES)] = 200.0f; /* of bias2 */
    d.params = params;
    reference_mlp after = reference_mlp_create(params);
    epoch e = draw_epoch(&d, shape[1], shape[2]);
    reference_epoch(&after, &d, &e);
    create(NETWORK, &d);
    train(NETWORK, &e);
    expect_losses(&e, 0);
    destroy(NETWORK);
}

/* Of d_losses and d_order only one is another array than in the epoch before. */
static void run_one_is_new(const long *shape)
{
    const unsigned at[][2] = {{0, 0}, {0, 4}, {4, 4}, {4, 0}};
    const char *const why = "either d_losses or d_order is another array than in the epoch before";
    const data d = draw_data((int)shape[0]);
    reference_mlp after = reference_mlp_create(d.params);
    create(NETWORK, &d);
    for (size_t run = 0; run < sizeof at / sizeof *at; run++) {
        epoch e = draw_epoch(&d, shape[1], shape[2]);
        reference_epoch(&after, &d, &e);
        train_at(call_cuda, NETWORK, &e, at[run][0], at[run][1]);
        expect_losses_or(&e, run ? why : "forward or loss", why);
    }
    destroy(NETWORK);
}

/* Nothing to do, nobody wants the losses, and batches that are refused: the network is then as it
 * was, and goes on. */
static void run_odd_calls(const long *shape)
{
    data d;
    epoch e;
    reference_mlp after;
    const int refused[] = {0, -1, BATCH_MOST + 1};
    draw_run(&d, &e, &after, shape);
    argument order = in_i32("d_order", e.order, (size_t)e.n);
    create(NETWORK, &d);
    for (int i = 0; i < 6; i++) { /* without images, too */
        call_refused(1 /* cudaErrorInvalidValue */, "mlp_fast_train_epoch",
                     ARGS(handle(NETWORK), null_pointer(), order, i32(i < 3 ? e.n : 0),
                          i32(refused[i % 3]), f32(1e-3f), f32(1e-3f), stream()));
    }
    call_cuda("mlp_fast_train_epoch", ARGS(handle(NETWORK), null_pointer(), order, i32(0),
                                           i32(e.batch), f32(1e-3f), f32(1e-3f), stream()));
    call_cuda("mlp_fast_train_epoch",
              ARGS(handle(NETWORK), null_pointer(), order, i32(e.n), i32(e.batch), f32(e.first_lr),
                   f32(e.last_lr), stream()));
    mlp_expect_these(&after, params_of(NETWORK), "after calls that do nothing, and one epoch");
    destroy(NETWORK);
    call_cuda("mlp_fast_free", ARGS(null_pointer()));
}

/* Two networks take turns, and the first one's training is repeated by a third: to the last bit. */
static void run_side_by_side(const long *shape)
{
    data one, two;
    epoch of_one, of_two, again;
    reference_mlp after_one, after_two;
    draw_run(&one, &of_one, &after_one, shape);
    draw_run(&two, &of_two, &after_two, shape);
    create(NETWORK, &one);
    create(SECOND_NETWORK, &two);
    train(NETWORK, &of_one);
    train(SECOND_NETWORK, &of_two);
    expect_losses(&of_one, 0);
    expect_losses(&of_two, 0);
    const float *params = params_of(NETWORK);
    destroy(NETWORK);
    create(NETWORK, &one);
    again = of_one;
    train(NETWORK, &again);
    expect(memcmp(params, params_of(NETWORK), MLP_PARAMS * sizeof *params) == 0,
           "the same epoch of the same network gave other bits: the order of a sum is left to "
           "chance");
    destroy(NETWORK);
    destroy(SECOND_NETWORK);
}

/* ---- on a GPU: how far, how fast ------------------------------------------------------------- */

static double test_accuracy(const float *params, const mnist_set *test)
{
    const reference_mlp net = reference_mlp_create(params);
    const size_t size = (size_t)test->count * MLP_CLASSES;
    double *exact = f64_array(size);
    float *logits = f32_array(size);
    reference_mlp_predict(&net, exact, test->images, test->count);
    for (size_t i = 0; i < size; i++) logits[i] = (float)exact[i];
    return 100 * mlp_accuracy(logits, test->labels, test->count);
}

static data course_data(const mnist *m)
{
    const size_t size = (size_t)m->train.count * MLP_INPUTS;
    data d = {.count = m->train.count, .labels = m->train.labels, .x = m->train.images};
    d.params = mlp_random_params(1.5f);
    d.pixels = (unsigned char *)i32_array(size / sizeof(int) + 1);
    for (size_t i = 0; i < size; i++) d.pixels[i] = (unsigned char)lrintf(255.0f * d.x[i]);
    return d;
}

/* shape: epochs, batch, learning rate in 1e-4, per cent to be reached */
static void reaches_accuracy(const long *shape)
{
    const mnist *m = mlp_data();
    const data d = course_data(m);
    const int epochs = (int)shape[0], batch = (int)shape[1];
    const float lr = 1e-4f * (float)shape[2];
    int *order = i32_array((size_t)d.count);
    float *losses = f32_array((size_t)(d.count / batch + 1));
    double seconds = 0;
    for (int i = 0; i < d.count; i++) order[i] = i;
    const double before = test_accuracy(d.params, &m->test);
    create(NETWORK, &d);
    for (int i = 0; i < epochs; i++) {
        random_shuffle(case_random(), order, (size_t)d.count);
        call_cuda("mlp_fast_train_epoch",
                  ARGS(handle(NETWORK),
                       out_f32("d_losses", losses, (size_t)((d.count + batch - 1) / batch)),
                       in_i32("d_order", order, (size_t)d.count), i32(d.count), i32(batch),
                       f32(lr * (float)(epochs - i) / (float)epochs),
                       f32(lr * (float)(epochs - i - 1) / (float)epochs), stream()));
        seconds += call_seconds();
    }
    const double after = test_accuracy(params_of(NETWORK), &m->test);
    destroy(NETWORK);
    expect(after > shape[3],
           "after %d epochs the accuracy on the test images of %s is %.2f %%, should be above %ld "
           "%%; it was %.1f %%",
           epochs, m->source, after, shape[3], before);
    note("accuracy %.2f %% (before: %.1f %%) on the test images of %s, after %d epochs in %.4f s",
         after, before, m->source, epochs, seconds);
}

/* ---- timed and counted ----------------------------------------------------------------------- */

/* shape: images, places in the order, batch */
static void run_counted(const char *function, const long *shape)
{
    (void)function;
    const data d = draw_data((int)shape[0]);
    epoch e = draw_epoch(&d, shape[1], shape[2]);
    create(NETWORK, &d);
    train_by(call_cuda, NETWORK, &e);
    for (int i = 0; i < steps_of(&e); i++)
        expect(isfinite(e.got[i]), "d_losses[%d] is %g", i, e.got[i]);
    destroy(NETWORK);
}

#define TIMED_IMAGES 2048

/* shape: places in the order, batch */
static void run_timed(const char *function, const long *shape)
{
    const data d = draw_data(TIMED_IMAGES);
    const size_t n = (size_t)shape[0], steps = (n + (size_t)shape[1] - 1) / (size_t)shape[1];
    float *losses = f32_array(steps);
    argument out = out_f32("d_losses", losses, steps);
    argument order = in_i32("d_order", random_i32(n, 0, d.count), n);
    if (strcmp(function, "mlp_fast_train_epoch") == 0) {
        create(NETWORK, &d);
        call_cuda(function, ARGS(handle(NETWORK), out, order, i32((int)n), i32((int)shape[1]),
                                 f32(1e-3f), f32(1e-3f), stream()));
        destroy(NETWORK);
    } else {
        const size_t scratch = 2 * MLP_PARAMS + (size_t)shape[1] * (2 * MLP_HIDDEN + MLP_CLASSES);
        float *params = f32_array(MLP_PARAMS);
        memcpy(params, d.params, MLP_PARAMS * sizeof *params);
        call_cuda(function, ARGS(out, inout_f32("params", params, MLP_PARAMS),
                                 inout_f32("scratch", f32_array(scratch), scratch),
                                 in_bytes("images", d.pixels, (size_t)d.count * MLP_INPUTS),
                                 in_i32("labels", d.labels, (size_t)d.count), order, i32((int)n),
                                 i32((int)shape[1]), f32(1e-3f), stream()));
    }
    for (size_t i = 0; i < steps; i++) expect(isfinite(losses[i]), "loss %zu is %g", i, losses[i]);
}

static const grading_case cases[] = {
    {.name = "one_step", .run = run_epochs, .shape = {20, 16, 16}},
    {.name = "last_partial_batch", .run = run_epochs, .shape = {24, 19, 8}},
    {.name = "fewer_images_than_a_batch", .run = run_epochs, .shape = {9, 7, BATCH_MOST}},
    {.name = "batches_of_1", .run = run_epochs, .shape = {10, 4, 1}},
    {.name = "a_sure_class", .run = run_sure, .shape = {12, 18, 9}, .once = true},
    {.name = "one_array_is_new", .run = run_one_is_new, .shape = {10, 8, 8}, .once = true},
    {.name = "other_epochs", .run = run_epochs, .shape = {30, 24, 9, 13, 5, 20, 20}, .once = true},
    {.name = "any_batch", .run = run_epochs, .shape = {20, 20, 2}, .most = {20, 20, 20}},
    LONG_ROW("batch_of_300", run_epochs, 300, 300, 300),
    GPU_ROW("batch_of_1024", run_epochs, 2000, 3000, BATCH_MOST),
    {.name = "odd_calls", .run = run_odd_calls, .shape = {12, 14, 8}, .once = true},
    {.name = "side_by_side", .run = run_side_by_side, .shape = {20, 21, 8}, .once = true},
    GPU_ROW("accuracy_above_97_percent", reaches_accuracy, 5, 128, 30, 97),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "four launches per step", .shape = "400 steps of 128"},
     .function = "mlp_fast_train_epoch",
     .baseline = "baseline_train_epoch",
     .run = run_timed,
     .shape = {51200, 128},
     .from_idle = true,
     .where = ON_GPU,
     .threshold = 2.0},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"host launches", .shape = "an epoch of 6 steps"},
     .function = "mlp_fast_train_epoch",
     .run = run_counted,
     .shape = {20, 17, 3},
     .count = host_launches,
     .bound = AT_MOST,
     .wanted = 3,
     .begin = 6},
    {.metric = {"kernel launches", .per = "step", .shape = "an epoch of 6 steps"},
     .function = "mlp_fast_train_epoch",
     .run = run_counted,
     .shape = {20, 17, 3},
     .count = kernel_launches,
     .ideal = 6,
     .bound = AT_MOST,
     .wanted = 3.25,
     .begin = 4},
    {0},
};

EXERCISE(502) = {
    .id = 502,
    .name = "mnist_fast",
    .file = "phase5_full_network/502_mnist_fast/502_mnist_fast.cu",
    .functions = {"mlp_fast_create", "mlp_fast_train_epoch", "mlp_fast_get_params",
                  "mlp_fast_free"},
    .promises = {{"mlp_fast_train_epoch", WAITS_FOR_NOTHING | COPIES_NOTHING},
                 {"mlp_fast_get_params", HAS_WAITED | WAITS_FOR_ALL}},
    .host_copies = true,
    .exponentials = true,
    .baseline_file = "grader/exercises/502_mnist_fast/baseline.cu",
    .points = 20,
    .speed_points = 10,
    .see = "one_step",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
