/* 503_neural_network: cases of the network as a class of Python, against the reference of 112 and
 * 501. worker.py beside this is what they do in Python. */
#include "exercises/shared/mlp/mlp_cases.h"

#include <math.h>
#include <string.h>

enum { EPOCHS_MAX = 4, WORDS = 512, NO_MEMORY = 2 };

/* Of a network that is no larger than the reference's. */
typedef struct sizes {
    int inputs, hidden, classes;
    size_t begin[MLP_PARTS + 1]; /* of w1, bias1, w2, bias2 in its parameters; how many */
} sizes;

static sizes sizes_of(const long *shape)
{
    const long i = shape[0], h = shape[1], c = shape[2];
    const size_t w1 = (size_t)(h * i), w2 = (size_t)(c * h), b1 = (size_t)h, b2 = (size_t)c;
    return (sizes){(int)i, (int)h, (int)c, {0, w1, w1 + b1, w1 + b1 + w2, w1 + b1 + w2 + b2}};
}

/* Where parameter i of it lies in the reference's. */
static size_t place_in_reference(const sizes *s, size_t i)
{
    static const size_t w2 = MLP_HIDDEN * MLP_INPUTS + MLP_HIDDEN;
    const size_t inputs = (size_t)s->inputs, hidden = (size_t)s->hidden;
    if (i < s->begin[1]) return i / inputs * MLP_INPUTS + i % inputs;
    if (i < s->begin[2]) return MLP_HIDDEN * MLP_INPUTS + i - s->begin[1];
    i -= s->begin[2];
    if (i < s->begin[3] - s->begin[2]) return w2 + i / hidden * MLP_HIDDEN + i % hidden;
    return w2 + MLP_CLASSES * MLP_HIDDEN + i - (s->begin[3] - s->begin[2]);
}

/* What it lacks is 0 and stays so; a class that it has not is out of the question. */
static reference_mlp embed(const sizes *s, const float *params)
{
    float *whole = f32_array(MLP_PARAMS);
    for (int c = s->classes; c < MLP_CLASSES; c++) whole[MLP_PARAMS - MLP_CLASSES + c] = -1e30f;
    for (size_t i = 0; i < s->begin[MLP_PARTS]; i++) whole[place_in_reference(s, i)] = params[i];
    return reference_mlp_create(whole);
}

static float *embed_rows(const sizes *s, const float *x, long rows)
{
    float *whole = f32_array((size_t)rows * MLP_INPUTS);
    for (long r = 0; r < rows; r++)
        memcpy(whole + r * MLP_INPUTS, x + r * s->inputs, (size_t)s->inputs * sizeof(float));
    return whole;
}

static double share_right(const reference_mlp *net, const float *x, const int *y, long rows)
{
    double *exact = f64_array((size_t)rows * MLP_CLASSES);
    float *logits = f32_array((size_t)rows * MLP_CLASSES);
    reference_mlp_predict(net, exact, x, (int)rows);
    for (long i = 0; i < rows * MLP_CLASSES; i++) logits[i] = (float)exact[i];
    return mlp_accuracy(logits, y, (int)rows);
}

static const char *const parts[MLP_PARTS] = {"w1", "bias1", "w2", "bias2"};

static void expect_parameters(const sizes *s, const float *params, const reference_mlp *net)
{
    for (int part = 0; part < MLP_PARTS; part++) {
        double off = 0.0, norm = 0.0;
        for (size_t i = s->begin[part]; i < s->begin[part + 1]; i++) {
            const double want = net->params[place_in_reference(s, i)];
            off += pow(params[i] - want, 2), norm += want * want;
        }
        expect(sqrt(off) <= MLP_TOLERANCE * sqrt(norm) + net->drift[part],
               "%s is off by %.2g of its norm after fit", parts[part], sqrt(off / norm));
    }
}

static void expect_fresh(const sizes *s, const float *params)
{
    for (int part = 0; part < MLP_PARTS; part++) {
        const size_t count = s->begin[part + 1] - s->begin[part];
        const double columns = part == 0 ? s->inputs : s->hidden; /* of a matrix */
        const double want = part % 2 ? 0.0 : sqrt(2.0 / columns);
        double squares = 0.0;
        for (size_t i = s->begin[part]; i < s->begin[part + 1]; i++)
            squares += (double)params[i] * params[i];
        const double deviation = sqrt(squares / count);
        expect((want > 0 && count < 1000) || fabs(deviation - want) <= 0.2 * want,
               "the deviation of a new %s is %.3g, should be %.3g", parts[part], deviation, want);
    }
}

typedef struct training {
    sizes s;
    long rows, validation, batch, order, epochs;
    float lr, share; /* of the rows that are for validation: not always whole ones */
    const float *x;
    int *y;
    float *before, *after, loss[EPOCHS_MAX], accuracy[EPOCHS_MAX + 2];
} training;

/* Of the products alone: forward, and back but for the gradient of the inputs. */
static double training_flop(const training *t)
{
    const double first = (double)t->s.hidden * t->s.inputs,
                 second = (double)t->s.classes * t->s.hidden;
    return (double)(t->epochs * (t->rows - t->validation)) * (4.0 * first + 6.0 * second);
}

static void train_here(training *t)
{
    const size_t count = t->s.begin[MLP_PARTS], epochs = (size_t)t->epochs;
    t->before = f32_array(count), t->after = f32_array(count);
    call_counted("train", ARGS(host(out_f32("before", t->before, count)),
                               host(out_f32("after", t->after, count)),
                               host(out_f32("loss", t->loss, epochs)),
                               host(out_f32("accuracy", t->accuracy, epochs + 2)),
                               host(in_f32("X", t->x, (size_t)(t->rows * t->s.inputs))),
                               host(in_i32("y", t->y, (size_t)t->rows)), i32(t->s.inputs),
                               i32(t->s.hidden), i32(t->s.classes), f32(t->share),
                               i32((int)t->batch), f32(t->lr), i32((int)t->order)));
    expect_operations("train", training_flop(t));
    const float own = t->accuracy[t->epochs + 1];
    expect(own > 1.0 - 1.01 / (double)t->rows,
           "evaluate says %.3f, should say 1 for the labels that its own parameters predict", own);
}

static bool is_loss(double loss, double want)
{
    return fabs(loss - want) <= 2 * MLP_TOLERANCE * want;
}

/* Trains anew with one label for all: where the first loss is right then, each row counts once, and
 * its label is another's. */
static const char *why_loss(training t)
{
    t.y = i32_array((size_t)t.rows);
    train_here(&t);
    reference_mlp net = embed(&t.s, t.before);
    const float *x = embed_rows(&t.s, t.x, t.rows);
    const double want = reference_mlp_train(&net, x, t.y, (int)(t.rows - t.validation), t.lr);
    return is_loss(t.loss[0], want) ? "; with one label for all it is right: rows get the labels "
                                      "of others, where batches are gathered"
                                    : "";
}

static void expect_epochs(const training *t)
{
    const long training = t->rows - t->validation;
    reference_mlp net = embed(&t->s, t->before);
    const float *x = embed_rows(&t->s, t->x, t->rows);
    for (long e = 0; e < t->epochs; e++) {
        const double loss = reference_mlp_train(&net, x, t->y, (int)training, t->lr);
        const double right =
            share_right(&net, x + training * MLP_INPUTS, t->y + training, t->validation);
        if (!is_loss(t->loss[e], loss))
            fail("the loss of epoch %ld is %.7g, should be %.7g, the mean over %ld rows%s", e + 1,
                 t->loss[e], loss, training, e == 0 ? why_loss(*t) : "");
        expect(fabs(t->accuracy[e] - right) <= 1.01 / (double)t->validation,
               "the accuracy after epoch %ld is %.3f, should be %.3f, that of the last %ld rows",
               e + 1, t->accuracy[e], right, t->validation);
    }
    expect_parameters(&t->s, t->after, &net);
    const double right = share_right(&net, x, t->y, t->rows);
    expect(fabs(t->accuracy[t->epochs] - right) <= 1.01 / (double)t->rows,
           "evaluate says %.3f, should say %.3f", t->accuracy[t->epochs], right);
}

/* One batch holds all rows, or the learning rate is 0: then their order makes no difference.
 * shape: inputs, hidden, classes, rows, of these validation in tenths of a row, epochs, batch, lr
 * in 1e-4, order */
static void run_training(const long *shape)
{
    training t = {.s = sizes_of(shape),
                  .rows = shape[3],
                  .validation = shape[4] / 10,
                  .epochs = shape[5],
                  .batch = shape[6],
                  .lr = 1e-4f * (float)shape[7],
                  .order = shape[8]};
    t.share = (float)shape[4] / 10.0f / (float)t.rows;
    t.x = random_f32((size_t)(t.rows * t.s.inputs));
    t.y = random_i32((size_t)t.rows, 0, t.s.classes);
    train_here(&t);
    expect_fresh(&t.s, t.before);
    expect_epochs(&t);
}

static void expect_nothing(const char *function)
{
    unsigned char told[WORDS] = UNTOLD;
    call_void(function, ARGS(host(inout_of(ELEMENT_BYTE, "told", told, WORDS))));
    expect(!told[0], "%s", (const char *)told);
}

static void run_learns(const long *shape)
{
    (void)shape;
    expect_nothing("learns");
}

static void run_shuffles(const long *shape)
{
    (void)shape;
    expect_nothing("shuffles");
}

static void run_refusals(const long *shape)
{
    (void)shape;
    expect_nothing("network_refusals");
}

static void run_two_networks(const long *shape)
{
    (void)shape;
    expect_nothing("two_networks");
}

/* shape: the error of each call in turn; 0: Ctrl-C after it */
static void run_breaking_off(const long *shape)
{
    unsigned char told[WORDS] = UNTOLD;
    call_void("network_breaking_off",
              ARGS(host(inout_of(ELEMENT_BYTE, "told", told, WORDS)), i32((int)shape[0])));
    expect(!told[0], "%s", (const char *)told);
}

static const grading_case cases[] = {
    {.name = "784-128-10", .run = run_training, .shape = {784, 128, 10, 32, 80, 2, 64, 10}},
    {.name = "20-7-3", .run = run_training, .shape = {20, 7, 3, 64, 160, 4, 64, 10}},
    {.name = "1-1-1", .run = run_training, .shape = {1, 1, 1, 4, 10, 2, 8, 10}},
    {.name = "in batches", .run = run_training, .shape = {33, 5, 10, 80, 200, 2, 16, 0}},
    {.name = "not whole rows", .run = run_training, .shape = {9, 5, 4, 37, 37, 2, 64, 10}},
    {.name = "F order", .run = run_training, .shape = {20, 7, 3, 64, 160, 2, 64, 10, 1}},
    {.name = "each second column", .run = run_training, .shape = {20, 7, 3, 64, 160, 2, 64, 10, 2}},
    {.name = "shuffles", .run = run_shuffles, .once = true},
    {.name = "learns", .run = run_learns, .once = true},
    {.name = "refused", .run = run_refusals},
    {.name = "two networks", .run = run_two_networks, .once = true},
    {.name = "error", .run = run_breaking_off, .shape = {NO_MEMORY}, .once = true},
    {.name = "Ctrl-C", .run = run_breaking_off, .once = true},
    LONG_ROW("2,048 rows", run_training, 3, 2, 2, 2048, 10240, 1, 2048, 10),
    {0},
};

EXERCISE(503) = {
    .id = 503,
    .name = "neural_network",
    .file = "phase5_full_network/503_neural_network/503_neural_network.py",
    .functions = {"NeuralNetworkGPU"},
    .prerequisites = {501},
    .own_prerequisites = true,
    .points = 20,
    .cases = cases,
};
