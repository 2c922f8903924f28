/* 501_mnist: the network of 112 on the GPU, by the same cases, and its training loop. The labels
 * of the test images stay here: the worker sees the images and hands back logits. */
#include "exercises/shared/mlp/mlp_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EPOCHS_MAX 8

typedef struct training {
    const float *images;
    const int *labels;
    int count, validation, epochs, batch;
    float lr;
    unsigned long long seed;
    float loss[EPOCHS_MAX], accuracy[EPOCHS_MAX]; /* out */
} training;

static void train_here(training *t)
{
    const double trained = (double)t->epochs * (t->count - t->validation);
    call_counted("train_mnist",
                 ARGS(handle(0), host(out_f32("h_loss", t->loss, (size_t)t->epochs)),
                      host(out_f32("h_accuracy", t->accuracy, (size_t)t->epochs)),
                      host(in_f32("h_images", t->images, (size_t)t->count * MLP_INPUTS)),
                      host(in_i32("h_labels", t->labels, (size_t)t->count)), i32(t->count),
                      i32(t->validation), i32(t->epochs), i32(t->batch), f32(t->lr), u64(t->seed),
                      stream()));
    mlp_expect_operations("train_mnist", trained, (double)t->epochs * t->validation);
}

/* The numbers of a training run on drawn digits; shape: images, of these validation, epochs, batch
 */
static training drawn_training(const long *shape, float lr)
{
    float *images = f32_array((size_t)shape[0] * MLP_INPUTS);
    return (training){.images = images,
                      .labels = mlp_draw(images, (int)shape[0]),
                      .count = (int)shape[0],
                      .validation = (int)shape[1],
                      .epochs = (int)shape[2],
                      .batch = (int)shape[3],
                      .lr = lr,
                      .seed = random_u64(case_random())};
}

/* The class of each validation image by the reference. @return false where two logits are so close
 * that right fp32 may see another class */
static bool classes_of(int *classes, const reference_mlp *net, const float *x, int count)
{
    double *logits = f64_array((size_t)count * MLP_CLASSES);
    reference_mlp_predict(net, logits, x, count);
    bool clear = true;
    for (int row = 0; row < count; row++) {
        const double *line = logits + (size_t)row * MLP_CLASSES;
        int best = 0;
        for (int i = 1; i < MLP_CLASSES; i++) best = line[i] > line[best] ? i : best;
        for (int i = 0; i < MLP_CLASSES; i++) clear &= i == best || line[best] - line[i] > 1e-4;
        classes[row] = best;
    }
    return clear;
}

/* About half of the images get class 0, whose logit is far from the others: who looks at another
 * row's, too, takes it for the largest of his. */
static void spread_class_0(float *params, const float *x, int count)
{
    enum { W2 = MLP_HIDDEN * MLP_INPUTS + MLP_HIDDEN, BIAS2 = W2 + MLP_CLASSES * MLP_HIDDEN };
    double *logits = f64_array((size_t)count * MLP_CLASSES), behind = 0.0;
    if (count < 2) return; /* of one image the two would be equal */
    for (int i = 0; i < MLP_HIDDEN; i++) params[W2 + i] *= 8.0f;
    const reference_mlp net = reference_mlp_create(params);
    reference_mlp_predict(&net, logits, x, count);
    for (int row = 0; row < count; row++) {
        const double *line = logits + (size_t)row * MLP_CLASSES;
        double best = line[1];
        for (int i = 2; i < MLP_CLASSES; i++) best = fmax(best, line[i]);
        behind += (best - line[0]) / count;
    }
    params[BIAS2] += (float)behind;
}

/* The labels of validation: every second one, from the last on, is the network's class, the others
 * are not. @return how many are; -1: draw another network */
static int label_validation(training *t, const reference_mlp *net)
{
    const int first = t->count - t->validation;
    int *labels = i32_array((size_t)t->count), right = 0;
    memcpy(labels, t->labels, (size_t)t->count * sizeof *labels);
    if (!classes_of(labels + first, net, t->images + (size_t)first * MLP_INPUTS, t->validation))
        return -1;
    for (int i = t->count - 2; i >= first; i -= 2) labels[i] = (labels[i] + 1) % MLP_CLASSES;
    for (int i = t->count - 1; i >= first; i -= 2) right++;
    t->labels = labels;
    return right;
}

static bool is_loss(double loss, double want)
{
    return fabs(loss - want) <= MLP_TOLERANCE * want;
}

/* The loss of an epoch in which the network stands still. @return over what it should be */
static double loss_of(training t, reference_mlp net)
{
    const int trained = t.count - t.validation;
    const double want = reference_mlp_train(&net, t.images, t.labels, trained, 0.0f);
    train_here(&t);
    return t.loss[0] / want;
}

/* Trains once more with one label for all, and then with one image for all, too: if the loss is
 * right then, each image counts once, and its label is another's; or each counts as much. */
static const char *why_loss(training t, reference_mlp net)
{
    static char words[160];
    float *images = f32_array((size_t)t.count * MLP_INPUTS);
    t.labels = i32_array((size_t)t.count);
    if (is_loss(loss_of(t, net), 1.0))
        return "; with one label for all it is right: images get labels of others, where batches "
               "are gathered";
    for (int i = 0; i < t.count; i++)
        memcpy(images + (size_t)i * MLP_INPUTS, t.images, MLP_INPUTS * sizeof *images);
    t.images = images;
    const double factor = loss_of(t, net);
    if (is_loss(factor, 1.0))
        return "; with one image for all it is right: some images are taken twice, others never, "
               "where batches are gathered";
    snprintf(words, sizeof words,
             "; with one image for all it is %.4g times the image's loss: each batch counts by its "
             "images, and the last one has fewer",
             factor);
    return words;
}

static void expect_epoch(const training *t, const reference_mlp *net, int epoch, double loss,
                         int right)
{
    const int trained = t->count - t->validation;
    const float accuracy = t->validation > 0 ? (float)right / (float)t->validation : 0.0f;
    if (!is_loss(t->loss[epoch], loss))
        fail("h_loss[%d] is %.8g, should be %.8g, the mean over the %d training images, each "
             "once%s",
             epoch, t->loss[epoch], loss, trained, why_loss(*t, *net));
    expect(fabsf(t->accuracy[epoch] - accuracy) <= 1e-6f,
           "h_accuracy[%d] is %.4f, should be %.4f: %d of the last %d images", epoch,
           t->accuracy[epoch], accuracy, right, t->validation);
}

/* With a learning rate of 0 the network stays as it is, and the loss of an epoch is the same in any
 * order: but only if it is the mean over every training image, the short batch included. */
static void every_image_counts(const long *shape)
{
    training t = drawn_training(shape, 0.0f);
    const int first = t.count - t.validation;
    float *params;
    reference_mlp reference;
    int right;
    do {
        params = mlp_random_params(1.5f);
        spread_class_0(params, t.images + (size_t)first * MLP_INPUTS, t.validation);
        reference = reference_mlp_create(params);
        right = label_validation(&t, &reference);
    } while (right < 0);
    const double loss = reference_mlp_train(&reference, t.images, t.labels, first, 0.0f);
    mlp_create_here(params);
    train_here(&t);
    for (int epoch = 0; epoch < t.epochs; epoch++) expect_epoch(&t, &reference, epoch, loss, right);
    mlp_expect_params(&reference, "after training with a learning rate of 0");
    mlp_free_here();
}

/* A batch that holds all training images has no order either: each epoch is one known step, and a
 * validation image that is trained on shows. */
static void validation_is_not_trained_on(const long *shape)
{
    training t;
    const float *params;
    reference_mlp reference;
    double loss[EPOCHS_MAX];
    do {
        t = drawn_training(shape, 1e-3f);
        params = mlp_random_params(1.5f);
        reference = reference_mlp_create(params);
        for (int i = 0; i < t.epochs; i++) {
            loss[i] =
                reference_mlp_train(&reference, t.images, t.labels, t.count - t.validation, t.lr);
        }
    } while (reference.nearest < MLP_SAFE_MARGIN);
    mlp_create_here(params);
    train_here(&t);
    for (int i = 0; i < t.epochs; i++) {
        expect(fabs(t.loss[i] - loss[i]) <= MLP_TOLERANCE * loss[i],
               "h_loss[%d] is %.8g, should be %.8g: one batch of the %d training images", i,
               t.loss[i], loss[i], t.count - t.validation);
    }
    mlp_expect_params(&reference, "after epochs of one batch");
    mlp_free_here();
}

/* After so many calls of so many epochs. */
static const float *params_of_epochs(training t, const float *params, int calls, int epochs)
{
    float *trained = f32_array(MLP_PARAMS);
    t.epochs = epochs;
    mlp_create_here(params);
    for (int i = 0; i < calls; i++) train_here(&t);
    mlp_get_params_here(trained);
    mlp_free_here();
    return trained;
}

static const float *params_of_seed(training t, const float *params, unsigned long long seed)
{
    t.seed = seed;
    return params_of_epochs(t, params, 1, t.epochs);
}

static double relative_distance(const float *a, const float *b)
{
    double difference = 0.0, norm = 0.0;
    for (int i = 0; i < MLP_PARAMS; i++) {
        difference += pow((double)a[i] - b[i], 2);
        norm += pow(b[i], 2);
    }
    return sqrt(difference / norm);
}

static void seed_decides_the_order(const long *shape)
{
    const training t = drawn_training(shape, 1e-3f);
    const float *params = mlp_random_params(1.5f);
    const float *one = params_of_seed(t, params, t.seed);
    const float *again = params_of_seed(t, params, t.seed);
    const float *other = params_of_seed(t, params, t.seed + 1);
    const float *repeated = params_of_epochs(t, params, 2, 1);
    const float *two = params_of_epochs(t, params, 1, 2);
    expect(relative_distance(one, again) <= 1e-4,
           "the same seed gave other parameters, %.1e of their norm apart",
           relative_distance(one, again));
    expect(relative_distance(one, other) > 1e-3,
           "another seed gave the same parameters: the images are not shuffled");
    expect(relative_distance(repeated, two) > 1e-3,
           "two epochs gave the same parameters as one epoch twice, with the same seed: each is in "
           "the same order");
}

static void train_batch_here(const training *t, float *loss, int batch)
{
    call_cuda("mlp_train_batch",
              ARGS(handle(0), loss ? host(out_f32("h_loss", loss, 1)) : null_pointer(),
                   in_f32("d_x", t->images, (size_t)batch * MLP_INPUTS),
                   in_i32("d_labels", t->labels, (size_t)batch), i32(batch), f32(t->lr), stream()));
}

static void refuse_training(training t, int count, int validation, int batch)
{
    call_refused(1 /* cudaErrorInvalidValue */, "train_mnist",
                 ARGS(handle(0), host(out_f32("h_loss", t.loss, 1)),
                      host(out_f32("h_accuracy", t.accuracy, 1)),
                      host(in_f32("h_images", t.images, (size_t)count * MLP_INPUTS)),
                      host(in_i32("h_labels", t.labels, (size_t)count)), i32(count),
                      i32(validation), i32(1), i32(batch), f32(t.lr), u64(t.seed), stream()));
}

/* What is refused, a batch of nothing and one whose loss is not wanted: one step in all. */
static void odd_calls(const long *shape)
{
    training t;
    const float *params;
    reference_mlp reference;
    float loss;
    do {
        t = drawn_training(shape, 1e-3f);
        params = mlp_random_params(1.5f);
        reference = reference_mlp_create(params);
        reference_mlp_train(&reference, t.images, t.labels, t.count, t.lr);
    } while (reference.nearest < MLP_SAFE_MARGIN);
    mlp_create_here(params);
    refuse_training(t, t.count, t.count, 4);
    refuse_training(t, t.count, t.count + 1, 4);
    refuse_training(t, 0, 0, 4);
    refuse_training(t, t.count, 1, 0);
    train_batch_here(&t, &loss, 0);
    expect(loss == 0.0f, "the loss of a batch of 0 is %g, should be 0", loss);
    train_batch_here(&t, NULL, t.count);
    mlp_expect_params(&reference, "after calls that do nothing, and a step without its loss");
    mlp_free_here();
    call_cuda("mlp_free", ARGS(null_pointer()));
}

/* Train on the data of the course and score the test images here. shape: images at most, per cent
 * of them for validation, epochs, batch, lr in 1e-4, test images at most, per cent to be reached */
static void reaches_accuracy(const long *shape)
{
    const mnist *data = mlp_data();
    const int count = (int)fmin((double)shape[0], data->train.count);
    const int tests = (int)fmin((double)shape[5], data->test.count);
    training t = {.images = data->train.images,
                  .labels = data->train.labels,
                  .count = count,
                  .validation = (int)(count * shape[1] / 100),
                  .epochs = (int)shape[2],
                  .batch = (int)shape[3],
                  .lr = 1e-4f * (float)shape[4],
                  .seed = random_u64(case_random())};
    float *logits = f32_array((size_t)tests * MLP_CLASSES);
    mlp_create_here(mlp_random_params(1.5f));
    mlp_predict_here(logits, data->test.images, tests);
    const double before = 100 * mlp_accuracy(logits, data->test.labels, tests);
    expect(before < 35, "before any training %.1f %% of %d test images of %s are right", before,
           tests, data->source);
    train_here(&t);
    const double seconds = call_seconds();
    mlp_predict_here(logits, data->test.images, tests);
    const double after = 100 * mlp_accuracy(logits, data->test.labels, tests);
    expect(after > shape[6],
           "after %d x %d images the accuracy on %d test images of %s is %.2f %%, should be "
           "above %ld %%; it was %.1f %%",
           t.epochs, count, tests, data->source, after, shape[6], before);
    note("accuracy %.2f %% (before: %.1f %%) on %d test images of %s, after %d x %d images in "
         "%.2f s",
         after, before, tests, data->source, t.epochs, count, seconds);
    mlp_free_here();
}

/* Few images: the emulated GPU takes milliseconds for each. */
static const grading_case cases[] = {
    {.name = "predict", .run = mlp_prediction, .shape = {1, 10, 40, 33}},
    LONG_ROW("predict_300", mlp_prediction, 300),
    {.name = "first_loss", .run = mlp_first_loss, .shape = {100}, .once = true},
    {.name = "last_partial_batch", .run = mlp_parity, .shape = {16, 7, 1, 33, 3}},
    {.name = "parity_20_steps", .run = mlp_parity, .shape = {32, -20}, .once = true},
    {.name = "parity_20_steps_of_64", .run = mlp_parity, .shape = {64, -20}, .where = ON_GPU},
    {.name = "overfits_one_batch", .run = mlp_overfit, .shape = {16, 200}, .once = true},
    {.name = "every_image_counts",
     .run = every_image_counts,
     .shape = {90, 21, 2, 16}, /* for validation a batch and a part, with other shares */
     .once = true},
    {.name = "one_image_for_validation",
     .run = every_image_counts,
     .shape = {17, 1, 1, 16},
     .once = true},
    {.name = "none_for_validation",
     .run = every_image_counts,
     .shape = {16, 0, 1, 16},
     .once = true},
    {.name = "validation_is_not_trained_on",
     .run = validation_is_not_trained_on,
     .shape = {60, 28, 2, 64},
     .once = true},
    {.name = "seed_decides_the_order",
     .run = seed_decides_the_order,
     .shape = {40, 8, 1, 8},
     .once = true},
    {.name = "odd_calls", .run = odd_calls, .shape = {9}, .once = true},
    /* A whole training would take minutes there: this only shows that the accuracy rises. */
    {.name = "short_run_on_softgpu_accuracy_rises",
     .run = reaches_accuracy,
     .shape = {1100, 10, 1, 16, 30, 200, 50},
     .where = ON_SOFTGPU,
     .once = true,
     .seconds = 60},
    {.name = "accuracy_above_97_percent_in_30_s",
     .run = reaches_accuracy,
     .shape = {60000, 10, 8, 64, 10, 10000, 97},
     .where = ON_GPU,
     .once = true,
     .seconds = 30},
    {0},
};

EXERCISE(501) = {
    .id = 501,
    .core = true,
    .name = "mnist",
    .file = "phase5_full_network/501_mnist/501_mnist.cu",
    .functions = {"mlp_create", "mlp_train_batch", "mlp_predict", "mlp_get_params", "mlp_free",
                  "train_mnist"},
    .prerequisites = {208, 301, 303, 305, 314, 404},
    .host_copies = true,
    .own_prerequisites = true,
    .exponentials = true,
    .points = 30,
    .see = "predict",
    .cases = cases,
};
