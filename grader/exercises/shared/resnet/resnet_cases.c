/* resnet_cases.c: a whole network against the reference, stage by stage. */
#include "resnet_cases.h"

#include "correctness/case.h"
#include "resnet18_weights.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMS_SEED 505
#define IMAGES_SEED 506

/* ---- inputs ---------------------------------------------------------------------------------- */

const float *resnet_params(void)
{
    static float *params;
    if (!params) {
        params = malloc(RESNET18_FLOATS * sizeof *params);
        if (!params) fail("the grader has no memory for the parameters");
        resnet18_random_params(params, PARAMS_SEED);
    }
    return params;
}

size_t resnet_pixels(int batch, int size)
{
    return (size_t)batch * 3 * (size_t)size * (size_t)size;
}

static float *images_of(int batch, int size, unsigned long long seed)
{
    float *x = f32_array(resnet_pixels(batch, size));
    resnet18_random_images(x, batch, size, seed);
    return x;
}

float *resnet_images(int batch, int size)
{
    return images_of(batch, size, random_u64(case_random()));
}

float *resnet_fixed_images(int batch, int size)
{
    return images_of(batch, size, IMAGES_SEED);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static const char *const mistakes[RESNET_MISTAKES] = {
    [RESNET_NO_MISTAKE] = "",
    [RESNET_NO_LAST_RELU] = "; as without the last ReLU",
    [RESNET_RELU_BEFORE_ADD] = "; as with the ReLU before the addition instead of after it",
    [RESNET_NO_RELU_BETWEEN] = "; as without the ReLU between the two convolutions",
    [RESNET_NO_SHORTCUT] = "; as without the shortcut",
    [RESNET_SHORTCUT_NOT_NORMALIZED] = "; as without the batch normalization of the shortcut",
    [RESNET_SECOND_NOT_NORMALIZED] = "; as without the last batch normalization",
    [RESNET_NO_EPS] = "; as without the epsilon of the batch normalizations",
    [RESNET_OTHER_EPS] = "; as with an epsilon of 1e-3 in the batch normalizations",
    [RESNET_NO_ROOT] = "; as with gamma divided by var + eps, not by its root",
    [RESNET_MEAN_LEFT] = "; as without the mean of the batch normalizations: beta - scale * mean",
    [RESNET_MEAN_UNSCALED] = "; as with beta - mean for beta - scale * mean",
    [RESNET_FIRST_TWICE] = "; as with the parameters of the first convolution for the second, too",
    [RESNET_WINDOW_SHIFTED] = "; as with windows of the maximum that begin at 2i, not at 2i - 1",
};

/* The root mean square of got - want, over that of want; NaN where there is one. */
static double distance_of(const float *got, const double *want, size_t count)
{
    double difference = 0.0, norm = 0.0;
    for (size_t i = 0; i < count; i++) {
        difference += (got[i] - want[i]) * (got[i] - want[i]);
        norm += want[i] * want[i];
    }
    return sqrt(difference / norm);
}

/* "layer2.0", of its first convolution's name. */
static const char *stage_name(int stage)
{
    static char name[32];
    if (stage == 0) return "maxpool";
    if (stage > RESNET18_BLOCKS) return "avgpool";
    snprintf(name, sizeof name, "%s", resnet18_convs[resnet18_blocks[stage - 1].conv1].name);
    name[strlen("layer1.0")] = '\0';
    return name;
}

/* @return another image of the batch whose stage this is, or -1 */
static int image_of(const resnet_reference *r, const float *got, int stage, double tolerance)
{
    const size_t floats = resnet_stage_floats(stage, r->size);
    for (int image = 0; image < r->batch; image++) {
        if (distance_of(got, resnet_stage(r, stage, image), floats) <= tolerance) return image;
    }
    return -1;
}

static bool never_written(const float *got, size_t floats)
{
    unsigned bits;
    for (size_t i = 0; i < floats; i++) {
        memcpy(&bits, &got[i], sizeof bits);
        if (bits == POISON_F32) return true;
    }
    return false;
}

/* The likely mistake, given that all stages before are right. */
static const char *reason_of(const resnet_reference *r, const float *got, int stage, int image,
                             double distance, double tolerance)
{
    static char text[64];
    const size_t floats = resnet_stage_floats(stage, r->size);
    const int other = image_of(r, got, stage, tolerance);
    if (never_written(got, floats)) return "; some of it was never written";
    snprintf(text, sizeof text, "; it is that of image %d", other);
    if (other >= 0) return text;
    const double near = fmax(tolerance, fmin(distance / 10, 10 * tolerance));
    for (int m = RESNET_NO_MISTAKE + 1; m < RESNET_MISTAKES && distance > tolerance; m++) {
        const double *wrong = resnet_stage_with(r, stage, image, (resnet_mistake)m);
        if (distance_of(got, wrong, floats) <= near) return mistakes[m];
    }
    return distance < 3e-3 ? "; as with products in lower precision" : "";
}

static void expect_stage(const resnet_reference *r, const float *got, int stage, int image,
                         double tolerance)
{
    const double *want = resnet_stage(r, stage, image);
    const double distance = distance_of(got, want, resnet_stage_floats(stage, r->size));
    if (distance <= tolerance) return;
    const char *reason = reason_of(r, got, stage, image, distance, tolerance);
    fail("%s: image %d of %d differs by %.2g of its root mean square, should be at most %.0e%s",
         stage_name(stage), image, r->batch, distance, tolerance, reason);
}

void expect_stages(const resnet_reference *r, const float *activations, double tolerance)
{
    const float *got = activations;
    for (int stage = 0; stage < RESNET18_STAGES; stage++) {
        for (int image = 0; image < r->batch; image++) {
            expect_stage(r, got, stage, image, tolerance);
            got += resnet_stage_floats(stage, r->size);
        }
    }
}

/* ---- logits ---------------------------------------------------------------------------------- */

static double root_mean_square(const double *x, int count)
{
    double squares = 0.0;
    for (int i = 0; i < count; i++) squares += x[i] * x[i];
    return sqrt(squares / count);
}

static bool row_is_close(const float *got, const double *want, double bound)
{
    for (int i = 0; i < RESNET18_CLASSES; i++) {
        if (!(fabs(got[i] - want[i]) <= bound)) return false;
    }
    return true;
}

/* What an image's row may be instead: that of another. */
static const char *other_row(const resnet_reference *r, const float *got, double bound)
{
    static char text[64];
    for (int row = 0; row < r->batch; row++) {
        snprintf(text, sizeof text, "; the row is that of image %d", row);
        if (row_is_close(got, r->logits + (size_t)row * RESNET18_CLASSES, bound)) return text;
    }
    return "";
}

static void expect_row(const resnet_reference *r, const float *got, int row, double tolerance)
{
    const double *want = r->logits + (size_t)row * RESNET18_CLASSES;
    const double scale = root_mean_square(want, RESNET18_CLASSES);
    for (int i = 0; i < RESNET18_CLASSES; i++) {
        expect(fabs(got[i] - want[i]) <= tolerance * scale,
               "logits[%d][%d] is %.9g, should be %.9g, within %.0e of the row's root mean square, "
               "%.3g%s",
               row, i, got[i], want[i], tolerance, scale, other_row(r, got, tolerance * scale));
    }
}

void expect_logits(const resnet_reference *r, const float *logits, double tolerance)
{
    for (int row = 0; row < r->batch; row++) {
        expect_row(r, logits + (size_t)row * RESNET18_CLASSES, row, tolerance);
    }
}

/* Is the largest logit one of those that the reference has as largest, give or take? */
static bool same_class(const float *got, const double *want, double tolerance)
{
    const double slack = 2 * tolerance * root_mean_square(want, RESNET18_CLASSES);
    int best = 0;
    double largest = want[0];
    for (int i = 1; i < RESNET18_CLASSES; i++) {
        if (got[i] > got[best]) best = i;
        largest = fmax(largest, want[i]);
    }
    return want[best] >= largest - slack;
}

int resnet_other_classes(const resnet_reference *r, const float *logits, double tolerance)
{
    int others = 0;
    for (int row = 0; row < r->batch; row++) {
        const size_t at = (size_t)row * RESNET18_CLASSES;
        others += !same_class(logits + at, r->logits + at, tolerance);
    }
    return others;
}
