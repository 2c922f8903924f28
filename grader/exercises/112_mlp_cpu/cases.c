/* 112_mlp_cpu: cases of the network on the CPU; most of them are those of 501 too. */
#include "exercises/shared/mlp/mlp_cases.h"

#include <math.h>
#include <string.h>

#define BATCH 64
#define LR    3e-3f /* half an epoch is short */

/* One pass over the first images of the training set in their order, the last batch short; then the
 * test images. shape: images, per cent to be reached on MNIST, per cent on drawn digits */
static void run_half_epoch(const long *shape)
{
    const mnist *data = mlp_data();
    const int count = (int)shape[0] < data->train.count ? (int)shape[0] : data->train.count;
    float *logits = f32_array((size_t)data->test.count * MLP_CLASSES);
    double seconds = 0.0;
    mlp_create_here(mlp_random_params(1.5f));
    for (int done = 0; done < count; done += BATCH) {
        const int batch = count - done < BATCH ? count - done : BATCH;
        mlp_train_here(data->train.images + (size_t)done * MLP_INPUTS, data->train.labels + done,
                       batch, LR);
        seconds += call_seconds();
        expect(seconds < 60.0, "%d of %d images took %.0f s", done + batch, count, seconds);
    }
    mlp_predict_here(logits, data->test.images, data->test.count);
    const double accuracy = 100 * mlp_accuracy(logits, data->test.labels, data->test.count);
    const double wanted = (double)(data->is_mnist ? shape[1] : shape[2]);
    expect(accuracy >= wanted,
           "after %d images the accuracy on %d test images of %s is %.2f %%, should be %.0f %%",
           count, data->test.count, data->source, accuracy, wanted);
    note("accuracy %.2f %% on %d test images of %s, after %d images in %.2f s", accuracy,
         data->test.count, data->source, count, seconds);
    mlp_free_here();
}

/* One class after the other is so sure that its exponential is no float. */
static void run_sure(const long *shape)
{
    const int batch = (int)shape[0];
    float *x = f32_array((size_t)batch * MLP_INPUTS);
    const int *labels = mlp_draw(x, batch);
    for (int sure = 0; sure < MLP_CLASSES; sure++) {
        float *params = mlp_random_params(1.0f);
        params[MLP_PARAMS - MLP_CLASSES + sure] = 200.0f;
        reference_mlp reference = reference_mlp_create(params);
        mlp_create_here(params);
        expect_near("the loss with a logit of about 200", mlp_train_here(x, labels, batch, LR),
                    reference_mlp_train(&reference, x, labels, batch, LR), FP32_SUM_TOLERANCE);
        mlp_free_here();
    }
}

/* Two pixels, two hidden units, two classes; all else is 0, and the other classes are out of reach.
 * pre = (1 - 2, 1/2 + 1) = (-1, 3/2), so the first unit is shut; both logits are 3: the loss is ln
 * 2, and the gradient of the logits (-1/2, 1/2) for label 0. Adam's first step is lr against the
 * sign of each gradient. */
static void run_by_hand(const long *shape)
{
    enum { FIRST = 300, SECOND, PIXELS = MLP_INPUTS, W2 = MLP_HIDDEN * (MLP_INPUTS + 1) };
    enum { BIAS1 = MLP_HIDDEN * MLP_INPUTS, BIAS2 = MLP_PARAMS - MLP_CLASSES };
    const float step = 0.125f;
    const struct {
        const char *name;
        int at;
        float begin, moved; /* in steps */
    } by_hand[] = {
        {"w1[0][first]", FIRST, 1.0f, 0},
        {"w1[0][second]", SECOND, -1.0f, 0},
        {"w1[1][first]", PIXELS + FIRST, 0.5f, 1},
        {"w1[1][second]", PIXELS + SECOND, 0.5f, 1},
        {"bias1[0]", BIAS1, 0.0f, 0},
        {"bias1[1]", BIAS1 + 1, 0.0f, 1},
        {"w2[0][0]", W2, 1.0f, 0},
        {"w2[0][1]", W2 + 1, 2.0f, 1},
        {"w2[1][0]", W2 + MLP_HIDDEN, 5.0f, 0},
        {"w2[1][1]", W2 + MLP_HIDDEN + 1, 1.0f, -1},
        {"bias2[0]", BIAS2, 0.0f, 1},
        {"bias2[1]", BIAS2 + 1, 1.5f, -1},
    };
    const int count = sizeof by_hand / sizeof *by_hand, label = 0;
    float *params = f32_array(MLP_PARAMS), *x = f32_array(MLP_INPUTS);
    (void)shape;
    for (int i = 2; i < MLP_CLASSES; i++) params[BIAS2 + i] = -1000.0f;
    for (int i = 0; i < count; i++) params[by_hand[i].at] = by_hand[i].begin;
    x[FIRST] = 1.0f, x[SECOND] = 2.0f;
    mlp_create_here(params);
    expect_near("the loss of two equal logits", mlp_train_here(x, &label, 1, step), log(2.0), 1e-6);
    mlp_get_params_here(params);
    for (int i = 0; i < count; i++)
        expect_near(by_hand[i].name, params[by_hand[i].at],
                    by_hand[i].begin + step * by_hand[i].moved, 1e-6);
    mlp_free_here();
}

static const grading_case cases[] = {
    {.name = "predict", .run = mlp_prediction, .shape = {1, 10, 3, 33}},
    {.name = "first_loss", .run = mlp_first_loss, .shape = {500}},
    {.name = "predict_any", .run = mlp_prediction, .shape = {1, 1}, .most = {150, 150}},
    {.name = "batches_of_any_size", .run = mlp_parity, .shape = {1, 1, 1}, .most = {70, 30, 70}},
    {.name = "a_sure_class", .run = run_sure, .shape = {3}},
    LONG_ROW("predict_1100", mlp_prediction, 1100),
    LONG_ROW("first_loss_of_1100", mlp_first_loss, 1100),
    {.name = "last_partial_batch", .run = mlp_parity, .shape = {64, 7, 64, 1, 100, 3}},
    {.name = "parity_20_steps", .run = mlp_parity, .shape = {BATCH, -20}},
    {.name = "overfits_one_batch", .run = mlp_overfit, .shape = {BATCH, 200}, .once = true},
    {.name = "half_an_epoch", .run = run_half_epoch, .shape = {30000, 92, 92}, .once = true},
    {.name = "by_hand", .run = run_by_hand},
    {0},
};

EXERCISE(112) = {
    .id = 112,
    .core = true,
    .name = "mlp_cpu",
    .file = "phase1_cpu/112_mlp_cpu/112_mlp_cpu.c",
    .functions = {"mlp_create_cpu", "mlp_train_batch_cpu", "mlp_predict_cpu", "mlp_get_params_cpu",
                  "mlp_free_cpu"},
    .exponentials = true,
    .points = 20,
    .cases = cases,
};
