/* 305_cross_entropy: loss and gradient against log-sum-exp in double, ignored labels, extreme
 * logits; speed against separate kernels. shape: rows, classes */
#include "exercises/shared/layer_cases.h"

#include <math.h>

#define IGNORE       -100
#define SAMPLED_ROWS 200 /* of a timed call */

typedef struct batch {
    long rows, classes;
    float *logits, *grad, *loss; /* [rows x classes] twice, [rows] */
    int *labels;                 /* [rows] */
    int ignore;
} batch;

static batch random_batch(const long *shape, float spread)
{
    batch b = {.rows = shape[0], .classes = shape[1], .ignore = IGNORE};
    const size_t size = (size_t)(b.rows * b.classes);
    b.logits = random_f32_between(size, -spread, spread);
    b.grad = f32_array(size);
    b.loss = f32_array((size_t)b.rows);
    b.labels = random_i32((size_t)b.rows, 0, (int)b.classes);
    return b;
}

static void call(const char *function, const batch *b)
{
    const size_t rows = (size_t)b->rows, size = rows * (size_t)b->classes;
    call_cuda(function, ARGS(out_f32("loss", b->loss, rows), out_f32("grad_logits", b->grad, size),
                             in_f32("logits", b->logits, size), in_i32("labels", b->labels, rows),
                             i32((int)b->rows), i32((int)b->classes), i32(b->ignore), stream()));
}

static long counted(const batch *b)
{
    long count = 0;
    for (long r = 0; r < b->rows; r++) count += b->labels[r] != b->ignore;
    return count;
}

/* The gradient may be as wrong as the softmax in it; in ignored rows not at all. */
static double *gradient_scale(const batch *b, long valid)
{
    double *p = f64_array((size_t)(b->rows * b->classes));
    reference_softmax(p, b->logits, b->rows, b->classes);
    double *scale = softmax_scale(p, b->logits, b->rows, b->classes);
    for (long r = 0; r < b->rows; r++) {
        const bool ignored = b->labels[r] == b->ignore;
        for (long c = 0; c < b->classes; c++) {
            double *s = &scale[r * b->classes + c];
            *s = ignored ? 0.0 : (*s + (c == b->labels[r])) / valid;
        }
    }
    return scale;
}

/* log(sum) + max in fp32, which is right, rounds to the spacing of the logits. */
static double *loss_scale(const batch *b, const double *loss)
{
    double *scale = f64_array((size_t)b->rows);
    for (long r = 0; r < b->rows; r++) {
        const float *row = b->logits + r * b->classes;
        double top = -INFINITY;
        for (long c = 0; c < b->classes; c++) top = fmax(top, row[c]);
        scale[r] = b->labels[r] == b->ignore ? 0.0 : fmax(1.0, loss[r]) + fabs(top) / 50;
    }
    return scale;
}

/* log(sum of exp(x - top)) + top - x[label], as fp32 has it. */
static double naive_loss(const float *row, long classes, float top, int label)
{
    float sum = 0.0f;
    for (long c = 0; c < classes; c++) sum += expf(row[c] - top);
    return logf(sum) + (top - row[label]);
}

static void suspect_loss(const batch *b)
{
    double *no_max = f64_array((size_t)b->rows), *max_0 = f64_array((size_t)b->rows);
    double *not_back = f64_array((size_t)b->rows), *no_log = f64_array((size_t)b->rows);
    for (long r = 0; r < b->rows; r++) {
        const float *row = b->logits + r * b->classes;
        float top = 0.0f;
        if (b->labels[r] == b->ignore) continue;
        for (long c = 0; c < b->classes; c++) top = fmaxf(top, row[c]);
        float largest = -INFINITY;
        for (long c = 0; c < b->classes; c++) largest = fmaxf(largest, row[c]);
        const double loss = naive_loss(row, b->classes, largest, b->labels[r]);
        const double back = largest - row[b->labels[r]];
        not_back[r] = loss - largest;
        no_log[r] = exp(loss - back) + back;
        no_max[r] = naive_loss(row, b->classes, 0.0f, b->labels[r]);
        max_0[r] = naive_loss(row, b->classes, top, b->labels[r]);
    }
    suspect("the maximum is not subtracted before exp", no_max);
    suspect("the maximum is subtracted, but not added back to log(sum)", not_back);
    suspect("the maximum starts at 0", max_0);
    suspect("the log of the sum is missing", no_log);
}

static void suspect_gradient(const batch *b, const double *grad, long valid)
{
    const size_t size = (size_t)(b->rows * b->classes);
    double *over_all = f64_array(size), *whole_one = f64_array(size), *one = f64_array(size);
    for (size_t i = 0; i < size; i++) {
        const long label = b->labels[i / (size_t)b->classes];
        const bool is_label = label != b->ignore && (long)i % b->classes == label;
        over_all[i] = grad[i] * (double)counted(b) / (double)b->rows;
        whole_one[i] = grad[i] + (is_label ? 1.0 / (double)valid - 1.0 : 0.0);
        one[i] = is_label ? -1.0 / (double)valid : 0.0;
    }
    suspect("the 1 of the label is not divided by the number of rows", whole_one);
    suspect_term("the 1 of the label is off", one);
    if (counted(b) < b->rows) suspect("the mean counts ignored labels too", over_all);
}

/** `valid` labels count, in this batch or in the larger one that it is a part of. */
static void expect_loss_and_gradient(const batch *b, long valid)
{
    const size_t rows = (size_t)b->rows, classes = (size_t)b->classes;
    double *loss = f64_array(rows), *grad = f64_array(rows * classes);
    reference_cross_entropy(loss, grad, b->logits, b->labels, b->rows, b->classes, b->ignore);
    const double share = (double)counted(b) / (valid > 0 ? valid : 1);
    for (size_t i = 0; i < rows * classes; i++) grad[i] *= share;
    const layout losses = {"loss", 1, rows}, gradients = {"grad_logits", rows, classes};
    const double *scale = loss_scale(b, loss), *grad_scale = gradient_scale(b, valid);
    if (!is_close(losses, b->loss, loss, scale, FP32_NORM_TOLERANCE)) suspect_loss(b);
    expect_close(losses, b->loss, loss, scale, FP32_NORM_TOLERANCE);
    if (!is_close(gradients, b->grad, grad, grad_scale, FP32_NORM_TOLERANCE)) {
        suspect_gradient(b, grad, valid);
    }
    expect_close(gradients, b->grad, grad, grad_scale, FP32_NORM_TOLERANCE);
}

static void call_and_check(const batch *b)
{
    call("softmax_cross_entropy", b);
    expect_loss_and_gradient(b, counted(b));
}

static void run_random(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    call_and_check(&b);
}

static void run_large_logits(const long *shape)
{
    const batch b = random_batch(shape, 1e4f);
    call_and_check(&b);
}

static void run_all_negative(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    for (long i = 0; i < b.rows * b.classes; i++) b.logits[i] -= 10000.0f;
    call_and_check(&b);
}

/* All logits of a row alike: the loss is the logarithm of the number of classes. */
static void run_uniform(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    for (long i = 0; i < b.rows * b.classes; i++) b.logits[i] = (float)(i / b.classes) * 7.5f;
    call_and_check(&b);
}

/* The network is sure and right: loss 0, gradient 0, nothing cancels badly. */
static void run_peaked(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    for (long r = 0; r < b.rows; r++) b.logits[r * b.classes + b.labels[r]] = 60.0f;
    call_and_check(&b);
}

/* The network is sure and wrong: the loss is about 104, not the 23 of log(1e-10), nor infinity. */
static void run_unlikely_label(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    for (long r = 0; r < b.rows; r++) b.logits[r * b.classes + b.labels[r]] = -100.0f;
    call_and_check(&b);
}

/* Classes of weight 0, as those that only pad a vocabulary, never the label. */
static void run_masked_classes(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    sprinkle_f32(b.logits, (size_t)(b.rows * b.classes), -INFINITY, (int)(b.rows * b.classes / 4));
    for (long r = 0; r < b.rows; r++) b.logits[r * b.classes + b.labels[r]] = 1.5f;
    call_and_check(&b);
}

static void ignore_some(const batch *b, int one_in)
{
    for (long r = 0; r < b->rows; r++) {
        if (random_below(case_random(), (uint64_t)one_in) == 0) b->labels[r] = b->ignore;
    }
    b->labels[b->rows / 2] = b->ignore;
    b->labels[b->rows - 1] = b->ignore == 0 ? 1 : 0;
}

static void run_ignored_labels(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    ignore_some(&b, 3);
    call_and_check(&b);
}

/* ignore_index is one of the classes, as where class 0 means "padding". */
static void run_ignored_class(const long *shape)
{
    batch b = random_batch(shape, 4.0f);
    b.ignore = 0;
    ignore_some(&b, 3);
    call_and_check(&b);
}

static void run_all_ignored(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    for (long r = 0; r < b.rows; r++) b.labels[r] = IGNORE;
    call_and_check(&b);
}

/* What an ignored row holds is nobody's business. */
static void run_nan_in_ignored_row(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    ignore_some(&b, 3);
    for (long r = 0; r < b.rows; r++) {
        float *row = b.logits + r * b.classes;
        if (b.labels[r] == IGNORE) row[r % b.classes] = r % 2 ? NAN : INFINITY;
    }
    call("softmax_cross_entropy", &b);
    for (long r = 0; r < b.rows; r++) { /* the reference knows nothing of NaN */
        float *row = b.logits + r * b.classes;
        if (b.labels[r] == IGNORE) row[r % b.classes] = 0.0f;
    }
    expect_loss_and_gradient(&b, counted(&b));
}

/* A NaN in a row that counts is one in its loss and in all of its gradient. */
static void run_nan(const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    sprinkle_f32(b.logits, (size_t)(b.rows * b.classes), NAN, 1);
    call_and_check(&b);
}

static void call_and_sample(const char *function, const batch *of)
{
    const batch b = *of;
    const int *some = sampled_rows(SAMPLED_ROWS, b.rows);
    call(function, &b);
    batch sample = {.rows = SAMPLED_ROWS, .classes = b.classes, .ignore = b.ignore};
    sample.logits = rows_of(b.logits, b.classes, some, SAMPLED_ROWS);
    sample.grad = rows_of(b.grad, b.classes, some, SAMPLED_ROWS);
    sample.loss = rows_of(b.loss, 1, some, SAMPLED_ROWS);
    sample.labels = i32_array(SAMPLED_ROWS);
    for (int r = 0; r < SAMPLED_ROWS; r++) sample.labels[r] = b.labels[some[r]];
    expect_loss_and_gradient(&sample, counted(&b));
}

static void run_timed(const char *function, const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    ignore_some(&b, 10);
    call_and_sample(function, &b);
}

/* No ignored rows: what they cost depends on how many there are. */
static void run_counted(const char *function, const long *shape)
{
    const batch b = random_batch(shape, 4.0f);
    call_and_sample(function, &b);
}

static const grading_case cases[] = {
    {.name = "1x1", .run = run_random, .shape = {1, 1}},
    {.name = "1x10", .run = run_random, .shape = {1, 10}},
    {.name = "17x10", .run = run_random, .shape = {17, 10}},
    {.name = "64x10", .run = run_random, .shape = {64, 10}},
    {.name = "1500x3", .run = run_random, .shape = {1500, 3}},
    {.name = "33x257", .run = run_random, .shape = {33, 257}},
    {.name = "7x1025", .run = run_random, .shape = {7, 1025}},
    {.name = "3x50257", .run = run_random, .shape = {3, 50257}},
    {.name = "1x70001", .run = run_random, .shape = {1, 70001}},
    {.name = "any_shape", .run = run_random, .shape = {1, 1}, .most = {20, 4000}},
    {.name = "large_logits_any_shape",
     .run = run_large_logits,
     .shape = {1, 601},
     .most = {5, 4000}},
    {.name = "empty", .run = run_random, .shape = {0, 10}},
    {.name = "large_logits", .run = run_large_logits, .shape = {19, 301}},
    {.name = "all_negative", .run = run_all_negative, .shape = {19, 301}},
    {.name = "uniform", .run = run_uniform, .shape = {13, 1000}},
    {.name = "peaked", .run = run_peaked, .shape = {19, 301}},
    {.name = "unlikely_label", .run = run_unlikely_label, .shape = {19, 301}},
    {.name = "masked_classes", .run = run_masked_classes, .shape = {19, 301}},
    {.name = "ignored_labels", .run = run_ignored_labels, .shape = {50, 37}},
    {.name = "ignored_class", .run = run_ignored_class, .shape = {50, 37}},
    {.name = "ignored_2000x7", .run = run_ignored_labels, .shape = {2000, 7}},
    {.name = "all_ignored", .run = run_all_ignored, .shape = {9, 37}},
    {.name = "nan_in_ignored_row", .run = run_nan_in_ignored_row, .shape = {50, 37}},
    {.name = "nan", .run = run_nan, .shape = {9, 261}},
    {.name = "70001x10", .run = run_ignored_labels, .shape = {70001, 10}, .where = ON_GPU},
    GPU_ROW("300x50257", run_ignored_labels, 300, 50257),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "separate kernels", .shape = "6000 rows of 4096 classes"},
     .function = "softmax_cross_entropy",
     .baseline = "baseline_softmax_cross_entropy",
     .run = run_timed,
     .shape = {6000, 4096},
     .where = ON_GPU,
     .threshold = 1.3,
     .bytes = 8.0 * 6000 * 4096,
     .peer_share = 0.38,
     .peer_bytes = 8.0 * 6000 * 4096},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"reduction in DRAM bytes", .over = "separate kernels",
                .shape = "256 rows of 512 classes"},
     .function = "softmax_cross_entropy",
     .baseline = "baseline_softmax_cross_entropy",
     .run = run_counted,
     .shape = {256, 512},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 1.3},
    {0},
};

EXERCISE(305) = {
    .id = 305,
    .core = true,
    .name = "cross_entropy",
    .file = "phase3_layers/305_cross_entropy/305_cross_entropy.cu",
    .functions = {"softmax_cross_entropy"},
    .baseline_file = "grader/exercises/305_cross_entropy/baseline.cu",
    .exponentials = true,
    .masks = true,
    .points = 10,
    .speed_points = 5,
    .see = "17x10",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
