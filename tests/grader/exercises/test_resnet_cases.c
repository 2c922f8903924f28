/* test_resnet_cases.c: the reference of ResNet-18 against the same network in plain loops, and the
 * words for a network that is wrong (exercises/shared/resnet/). */
#include "grader/tests.h"

#include "exercises/shared/resnet/resnet_cases.h"
#include "correctness/correctness.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE  41 /* sides of 21, 11, 6, 3 and 2 pixels: every stride meets an odd one */
#define BATCH 2

static const exercise nothing = {.id = 1, .name = "test"};
static case_state state = {.exercise = &nothing};

/* ---- plain loops: one image at a time, one output at a time ---------------------------------- */

static double conv_at(const resnet18_conv *c, const double *x, int in, int f, int row, int col)
{
    const float *p = resnet_params(), *w = p + c->w;
    double sum = 0.0;
    for (int ch = 0; ch < c->in_channels; ch++) {
        for (int r = 0; r < c->kernel; r++) {
            for (int s = 0; s < c->kernel; s++) {
                const int i = row * c->stride + r - c->pad, j = col * c->stride + s - c->pad;
                if (i < 0 || i >= in || j < 0 || j >= in) continue;
                sum += x[(ch * in + i) * in + j] *
                       w[((f * c->in_channels + ch) * c->kernel + r) * c->kernel + s];
            }
        }
    }
    const double deviation = sqrt((double)p[c->var + f] + RESNET18_BN_EPS);
    return (sum - p[c->mean + f]) / deviation * p[c->gamma + f] + p[c->beta + f];
}

static double *plain_conv(int number, const double *x, int in, int *out)
{
    const resnet18_conv *c = &resnet18_convs[number];
    const int side = *out = (in + 2 * c->pad - c->kernel) / c->stride + 1;
    double *y = f64_array((size_t)c->out_channels * side * side);
    for (int i = 0; i < c->out_channels * side * side; i++) {
        y[i] = conv_at(c, x, in, i / side / side, i / side % side, i % side);
    }
    return y;
}

static void plain_relu(double *x, int count)
{
    for (int i = 0; i < count; i++) x[i] = fmax(x[i], 0.0);
}

static double *plain_pool(const double *x, int planes, int in, int out)
{
    double *y = f64_array((size_t)planes * out * out);
    for (int i = 0; i < planes * out * out; i++) {
        const int top = i / out % out * 2 - 1, left = i % out * 2 - 1;
        for (int r = top; r < top + 3; r++) {
            for (int c = left; c < left + 3; c++) {
                if (r < 0 || r >= in || c < 0 || c >= in) continue;
                y[i] = fmax(y[i], x[i / out / out * in * in + r * in + c]); /* none is below 0 */
            }
        }
    }
    return y;
}

static double *plain_block(int number, const double *x, int in, int *out)
{
    const resnet18_block *b = &resnet18_blocks[number];
    double *middle = plain_conv(b->conv1, x, in, out);
    const int count = resnet18_convs[b->conv1].out_channels * *out * *out;
    plain_relu(middle, count);
    double *y = plain_conv(b->conv2, middle, *out, out);
    const double *shortcut = b->downsample < 0 ? x : plain_conv(b->downsample, x, in, out);
    for (int i = 0; i < count; i++) y[i] += shortcut[i];
    plain_relu(y, count);
    return y;
}

static void check_near(const double *got, const double *want, int count)
{
    for (int i = 0; i < count; i++) {
        ck_assert_double_le(fabs(got[i] - want[i]), 1e-10 * fmax(1.0, fabs(want[i])));
    }
}

static void check_head(const resnet_reference *r, const double *x, int side, int image)
{
    const float *w = r->params + RESNET18_FC_W;
    double features[RESNET18_FEATURES] = {0}, logits[RESNET18_CLASSES];
    for (int i = 0; i < RESNET18_FEATURES * side * side; i++) {
        features[i / side / side] += x[i] / (side * side);
    }
    for (int i = 0; i < RESNET18_CLASSES; i++) {
        logits[i] = r->params[RESNET18_FC_BIAS + i];
        for (int j = 0; j < RESNET18_FEATURES; j++) logits[i] += *w++ * features[j];
    }
    check_near(resnet_stage(r, RESNET18_BLOCKS + 1, image), features, RESNET18_FEATURES);
    check_near(r->logits + image * RESNET18_CLASSES, logits, RESNET18_CLASSES);
}

static void check_image(const resnet_reference *r, int image)
{
    double *x = f64_array(3 * SIZE * SIZE);
    for (int i = 0; i < 3 * SIZE * SIZE; i++) x[i] = r->x[image * 3 * SIZE * SIZE + i];
    int side, out;
    double *stem = plain_conv(0, x, SIZE, &side);
    plain_relu(stem, 64 * side * side);
    out = (side + 2 - 3) / 2 + 1;
    double *stage = plain_pool(stem, 64, side, out);
    check_near(resnet_stage(r, 0, image), stage, 64 * out * out);
    for (int b = 0; b < RESNET18_BLOCKS; b++) {
        stage = plain_block(b, stage, out, &out);
        check_near(resnet_stage(r, b + 1, image), stage, (int)resnet_stage_floats(b + 1, SIZE));
    }
    check_head(r, stage, out, image);
}

START_TEST(reference_is_the_network_in_plain_loops)
{
    const resnet_reference r =
        reference_resnet18(resnet_params(), resnet_images(BATCH, SIZE), BATCH, SIZE, true);
    for (int image = 0; image < BATCH; image++) check_image(&r, image);
    inputs_free();
}
END_TEST

/* More images than are computed at once. */
START_TEST(logits_need_no_stages)
{
    const double usual = resnet_pixels_at_once;
    const float *x = resnet_images(3, SIZE);
    const resnet_reference with = reference_resnet18(resnet_params(), x, 3, SIZE, true);
    resnet_pixels_at_once = 2 * SIZE * SIZE;
    const resnet_reference without = reference_resnet18(resnet_params(), x, 3, SIZE, false);
    resnet_pixels_at_once = usual;
    ck_assert(without.activations == NULL);
    check_near(without.logits, with.logits, 3 * RESNET18_CLASSES);
    inputs_free();
}
END_TEST

static double root_mean_square(const double *x, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++) squares += x[i] * x[i];
    return sqrt(squares / (double)count);
}

/* Of weights from a seed (common/resnet18_weights.c): activations stay of one size through all
 * layers, and another image is another row of logits, not only by a little. */
START_TEST(random_networks_tell_images_apart)
{
    enum { COUNT = 4, PIXELS = 96 };
    const resnet_reference r =
        reference_resnet18(resnet_params(), resnet_images(COUNT, PIXELS), COUNT, PIXELS, true);
    for (int stage = 0; stage < RESNET18_STAGES; stage++) {
        const double size = root_mean_square(resnet_stage(&r, stage, 0),
                                             COUNT * resnet_stage_floats(stage, PIXELS));
        ck_assert(size > 0.4 && size < 3);
    }
    for (int i = 1; i < COUNT; i++) {
        double other[RESNET18_CLASSES];
        const double *row = r.logits + (size_t)i * RESNET18_CLASSES;
        for (int c = 0; c < RESNET18_CLASSES; c++) other[c] = row[c] - r.logits[c];
        ck_assert(root_mean_square(other, RESNET18_CLASSES) >
                  0.3 * root_mean_square(row, RESNET18_CLASSES));
    }
    inputs_free();
}
END_TEST

/* ---- what is said of a wrong network --------------------------------------------------------- */

static float *narrowed(const double *x, size_t count)
{
    float *y = f32_array(count);
    for (size_t i = 0; i < count; i++) y[i] = (float)x[i];
    return y;
}

/* Right stages but one, of the last image; or, without a mistake, that of image 0 instead, or with
 * some error. shape: stage, mistake, image 0 instead, error in 1e-6 */
static void judge_stages(const char *function, const long *shape)
{
    (void)function;
    const size_t all = BATCH * resnet18_activations(SIZE);
    const int stage = (int)shape[0], last = BATCH - 1;
    const resnet_reference r =
        reference_resnet18(resnet_params(), resnet_images(BATCH, SIZE), BATCH, SIZE, true);
    float *got = narrowed(r.activations, all);
    float *there = got + (resnet_stage(&r, stage, last) - r.activations);
    const double *other = shape[2] ? resnet_stage(&r, stage, 0)
                                   : resnet_stage_with(&r, stage, last, (resnet_mistake)shape[1]);
    for (size_t i = 0; i < resnet_stage_floats(stage, SIZE); i++) {
        there[i] = (float)(other[i] * (1.0 + 1e-6 * (double)shape[3]));
    }
    expect_stages(&r, got, RESNET_STAGE_TOLERANCE);
}

static void check_words(long stage, long mistake, long first, long error, const char *words)
{
    const long shape[SHAPE_MAX] = {stage, mistake, first, error};
    char *message = run_guarded(&state, judge_stages, NULL, shape);
    if (!words) {
        ck_assert_msg(message == NULL, "refused: %s", message);
        return;
    }
    ck_assert_msg(message && strstr(message, words), "said: %s", message ? message : "nothing");
    free(message);
}

START_TEST(mistakes_are_named)
{
    check_words(0, RESNET_NO_LAST_RELU, 0, 0, "maxpool: image 1 of 2");
    check_words(1, RESNET_RELU_BEFORE_ADD, 0, 0, "before the addition");
    check_words(2, RESNET_NO_RELU_BETWEEN, 0, 0, "between the two");
    check_words(3, RESNET_NO_SHORTCUT, 0, 0, "without the shortcut");
    check_words(3, RESNET_SHORTCUT_NOT_NORMALIZED, 0, 0, "normalization of the shortcut");
    check_words(4, RESNET_SECOND_NOT_NORMALIZED, 0, 0, "last batch normalization");
    check_words(5, RESNET_OTHER_EPS, 0, 0, "an epsilon of 1e-3");
    check_words(6, RESNET_NO_EPS, 0, 0, "without the epsilon");
    check_words(7, RESNET_NO_LAST_RELU, 0, 0, "layer4.0: image 1 of 2");
    check_words(8, RESNET_NO_MISTAKE, 1, 0, "it is that of image 0");
    check_words(9, RESNET_NO_MISTAKE, 0, 300, "avgpool: image 1 of 2");
    check_words(4, RESNET_NO_MISTAKE, 0, 300, "lower precision");
}
END_TEST

START_TEST(rounding_is_accepted)
{
    check_words(0, RESNET_NO_MISTAKE, 0, 0, NULL);
    check_words(5, RESNET_NO_MISTAKE, 0, 5, NULL);
}
END_TEST

START_TEST(another_class_is_counted)
{
    const resnet_reference r =
        reference_resnet18(resnet_params(), resnet_images(BATCH, SIZE), BATCH, SIZE, false);
    float *logits = narrowed(r.logits, BATCH * RESNET18_CLASSES);
    ck_assert_int_eq(resnet_other_classes(&r, logits, RESNET_LOGIT_TOLERANCE), 0);
    logits[7] = logits[RESNET18_CLASSES + 7] = 1e3f;
    ck_assert_int_eq(resnet_other_classes(&r, logits, RESNET_LOGIT_TOLERANCE), 2);
    for (int i = 0; i < RESNET18_CLASSES; i++) logits[i] = NAN;
    ck_assert_int_eq(resnet_other_classes(&r, logits, RESNET_LOGIT_TOLERANCE), 2);
    inputs_free();
}
END_TEST

static void start(void)
{
    case_enter(&state);
}

Suite *suite_resnet(void)
{
    Suite *suite = suite_create("resnet_cases");
    TCase *tcase = tcase_create("resnet_cases");
    tcase_add_checked_fixture(tcase, start, NULL);
    tcase_add_test(tcase, reference_is_the_network_in_plain_loops);
    tcase_add_test(tcase, logits_need_no_stages);
    tcase_add_test(tcase, random_networks_tell_images_apart);
    tcase_add_test(tcase, mistakes_are_named);
    tcase_add_test(tcase, rounding_is_accepted);
    tcase_add_test(tcase, another_class_is_counted);
    suite_add_tcase(suite, tcase);
    return suite;
}
