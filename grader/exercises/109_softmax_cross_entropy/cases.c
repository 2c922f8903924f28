/* 109_softmax_cross_entropy: logits that overflow, underflow or are all alike, and facts that
 * hold for any: a row of the gradient sums to 0, and adding a constant to a row changes nothing. */
#include "correctness/case.h"

#include <float.h>
#include <math.h>

#define ALL_LABELS -1 /* no label is ignored here */

static float call_loss(float *grad, const float *logits, const int *labels, long rows, long classes)
{
    const size_t size = (size_t)(rows * classes);
    return call_returning_f32(
        "softmax_cross_entropy_cpu",
        ARGS(out_f32("grad_logits", grad, size), in_f32("logits", logits, size),
             in_i32("labels", labels, (size_t)rows), i32((int)rows), i32((int)classes)));
}

static void expect_rows_sum_to_zero(const float *grad, long rows, long classes)
{
    for (long i = 0; i < rows; i++) {
        double sum = 0.0;
        for (long j = 0; j < classes; j++) sum += grad[i * classes + j];
        if (isnan(sum)) continue; /* of a logit that is; elsewhere it has failed by now */
        expect(fabs(sum) * rows <= FP32_SUM_TOLERANCE,
               "row %ld of grad_logits sums to %.3g, not 0: its probabilities sum to %.9g", i, sum,
               1.0 + sum * rows);
    }
}

/* Probabilities are held to their own size, except where they are next to nothing. */
static void expect_gradient(const float *grad, const double *want, const int *labels, long rows,
                            long classes)
{
    const size_t size = (size_t)(rows * classes);
    double *scale = f64_array(size);
    for (size_t i = 0; i < size; i++) scale[i] = fabs(want[i]) + 1e-3 / (double)(classes * rows);
    for (long i = 0; i < rows; i++) scale[i * classes + labels[i]] += 1.0 / rows;
    layout l = {"grad_logits", (size_t)rows, (size_t)classes};
    if (!is_close(l, grad, want, scale, 5.0 * FP32_SUM_TOLERANCE)) {
        double *whole_one = f64_array(size), *one = f64_array(size);
        for (size_t i = 0; i < size; i++) whole_one[i] = want[i];
        for (long i = 0; i < rows; i++) whole_one[i * classes + labels[i]] += 1.0 / rows - 1.0;
        for (long i = 0; i < rows; i++) one[i * classes + labels[i]] = -1.0 / rows;
        suspect_term("the 1 of the label is off", one);
        suspect("the 1 of the label is not divided by the number of rows", whole_one);
    }
    expect_close(l, grad, want, scale, 5.0 * FP32_SUM_TOLERANCE);
    expect_rows_sum_to_zero(grad, rows, classes);
}

static float call_and_check(const float *logits, const int *labels, long rows, long classes)
{
    const size_t size = (size_t)(rows * classes);
    float *grad = f32_array(size);
    double *want = f64_array(size);
    float loss = call_loss(grad, logits, labels, rows, classes);
    double want_loss =
        reference_cross_entropy(NULL, want, logits, labels, rows, classes, ALL_LABELS);
    if (isnan(want_loss))
        expect(isnan(loss), "the mean loss is %.9g, should be nan: some logit is", loss);
    else
        expect_near("the mean loss", loss, want_loss, FP32_SUM_TOLERANCE);
    expect_gradient(grad, want, labels, rows, classes);
    return loss;
}

/* shape: rows, classes */
static void run_random(const long *shape)
{
    const float *logits = random_normal_f32((size_t)(shape[0] * shape[1]));
    const int *labels = random_i32((size_t)shape[0], 0, (int)shape[1]);
    call_and_check(logits, labels, shape[0], shape[1]);
}

/* shape: rows, classes, lowest and highest logit */
static void run_between(const long *shape)
{
    const float *logits =
        random_f32_between((size_t)(shape[0] * shape[1]), (float)shape[2], (float)shape[3]);
    const int *labels = random_i32((size_t)shape[0], 0, (int)shape[1]);
    call_and_check(logits, labels, shape[0], shape[1]);
}

/* shape: rows, classes, NaN */
static void run_nan(const long *shape)
{
    const size_t size = (size_t)(shape[0] * shape[1]);
    float *logits = random_normal_f32(size);
    const int *labels = random_i32((size_t)shape[0], 0, (int)shape[1]);
    sprinkle_f32(logits, size, NAN, (int)shape[2]);
    call_and_check(logits, labels, shape[0], shape[1]);
}

/* All logits are shape[2]: every class is as likely as any other, the loss is log(classes). */
static void run_all_equal(const long *shape)
{
    const long rows = shape[0], classes = shape[1];
    float *logits = f32_array((size_t)(rows * classes));
    for (long i = 0; i < rows * classes; i++) logits[i] = (float)shape[2];
    const int *labels = random_i32((size_t)rows, 0, (int)classes);
    float loss = call_and_check(logits, labels, rows, classes);
    expect_near("the mean loss of equal logits, log(classes),", loss, log((double)classes), 1e-6);
}

/* Each row lies shape[2] below the one before. */
static void run_rows_far_apart(const long *shape)
{
    const long rows = shape[0], classes = shape[1];
    float *logits = random_f32((size_t)(rows * classes));
    for (long i = 0; i < rows * classes; i++) logits[i] -= (float)(i / classes * shape[2]);
    const int *labels = random_i32((size_t)rows, 0, (int)classes);
    call_and_check(logits, labels, rows, classes);
}

/* The label's logit is shape[2] below all others: its probability underflows, its loss does not. */
static void run_hopeless_label(const long *shape)
{
    const long rows = shape[0], classes = shape[1];
    float *logits = random_f32((size_t)(rows * classes));
    const int *labels = random_i32((size_t)rows, 0, (int)classes);
    for (long i = 0; i < rows; i++) logits[i * classes + labels[i]] -= (float)shape[2];
    call_and_check(logits, labels, rows, classes);
}

/* As far apart as logits can be: the loss of the first row is more than a float holds, and the mean
 * is not. */
static void run_farthest(const long *shape)
{
    const long rows = shape[0], classes = shape[1];
    float *logits = random_f32((size_t)(rows * classes));
    int *labels = random_i32((size_t)rows, 0, (int)classes);
    labels[0] = 0;
    logits[0] = -FLT_MAX, logits[1] = FLT_MAX;
    call_and_check(logits, labels, rows, classes);
}

/* The logits are multiples of 1/256, so that adding a constant to a row is exact. */
static void run_shifted_rows(const long *shape)
{
    const long rows = shape[0], classes = shape[1];
    const size_t size = (size_t)(rows * classes);
    float *logits = f32_array(size), *grad = f32_array(size), *grad_again = f32_array(size);
    const int *labels = random_i32((size_t)rows, 0, (int)classes);
    for (size_t i = 0; i < size; i++) logits[i] = (float)random_below(case_random(), 1024) / 256;
    float loss = call_loss(grad, logits, labels, rows, classes);
    for (size_t i = 0; i < size; i++) logits[i] += (float)(64 * (i / (size_t)classes)) - 512;
    float loss_again = call_loss(grad_again, logits, labels, rows, classes);
    expect_near("the loss after adding a constant to each row", loss_again, loss, 1e-6);
    for (size_t i = 0; i < size; i++) {
        expect(fabs(grad[i] - grad_again[i]) <= 1e-6,
               "grad_logits[%zu] was %g, and is %g after adding a constant to each row", i, grad[i],
               grad_again[i]);
    }
}

static const grading_case cases[] = {
    {.name = "no_rows", .run = run_random, .shape = {0, 10}},
    {.name = "1x1", .run = run_random, .shape = {1, 1}},
    {.name = "one_class", .run = run_random, .shape = {5, 1}},
    {.name = "1x10", .run = run_random, .shape = {1, 10}},
    {.name = "7x3", .run = run_random, .shape = {7, 3}},
    {.name = "33x10", .run = run_random, .shape = {33, 10}},
    {.name = "128x257", .run = run_random, .shape = {128, 257}},
    {.name = "any_shape", .run = run_random, .shape = {1, 1}, .most = {30, 3000}},
    {.name = "8x100000", .run = run_random, .shape = {8, 100000}},
    {.name = "70001x2", .run = run_random, .shape = {70001, 2}},
    {.name = "zero_logits", .run = run_all_equal, .shape = {4, 10, 0}},
    {.name = "equal_logits", .run = run_all_equal, .shape = {3, 1000, 77}},
    {.name = "logits_to_10000", .run = run_between, .shape = {31, 12, -10000, 10000}},
    {.name = "all_below_zero", .run = run_between, .shape = {9, 10, -1010, -1000}},
    {.name = "rows_far_apart", .run = run_rows_far_apart, .shape = {11, 10, 500}},
    {.name = "hopeless_label", .run = run_hopeless_label, .shape = {6, 10, 100}},
    {.name = "farthest_label", .run = run_farthest, .shape = {7, 5}},
    {.name = "nan", .run = run_nan, .shape = {9, 10, 2}},
    {.name = "shifted_rows", .run = run_shifted_rows, .shape = {16, 10}},
    {0},
};

EXERCISE(109) = {
    .id = 109,
    .core = true,
    .name = "softmax_cross_entropy",
    .file = "phase1_cpu/109_softmax_cross_entropy/109_softmax_cross_entropy.c",
    .functions = {"softmax_cross_entropy_cpu"},
    .exponentials = true,
    .points = 10,
    .cases = cases,
};
