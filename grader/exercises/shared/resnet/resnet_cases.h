/*
 * resnet_cases.h: what exercises 504, 505 and 507 have in common: ResNet-18's forward pass in
 * double precision, and the comparison of a whole network with it, stage by stage.
 *
 * Nothing is folded or fused here: a convolution, then its batch normalization, then ReLU, each as
 * it is defined.
 */
#ifndef GRADER_RESNET_CASES_H
#define GRADER_RESNET_CASES_H

#include "correctness/case.h"
#include "resnet18_layout.h"

/** Of a function: compiled for what processors have today and for any other; the loader chooses. */
#if defined __x86_64__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

/** Honest fp32 stays below: a stage by its root mean square, of one image; a logit, relative to
 *  the root mean square of its row. TF32 does not. */
#define RESNET_STAGE_TOLERANCE 1e-5
#define RESNET_LOGIT_TOLERANCE 1e-4

/** The parameters of all cases [RESNET18_FLOATS]: made once, and kept. */
const float *resnet_params(void);
/** Numbers of [batch x 3 x size x size]. */
size_t resnet_pixels(int batch, int size);
/** Random images of the case, as many. */
float *resnet_images(int batch, int size);
/** Likewise, the same in every case. */
float *resnet_fixed_images(int batch, int size);

/** The network's answer for some images, with what it was computed from. */
typedef struct resnet_reference {
    const float *params, *x;
    int batch, size;
    double *logits;      /* [batch x RESNET18_CLASSES] */
    double *activations; /* as resnet18_layout.h lays them out, or NULL */
} resnet_reference;

/** Of the images that the reference takes at once; only a test changes it. */
extern double resnet_pixels_at_once;
/** On all cores; about 2 Gflop for an image of 224 x 224. The arrays are freed with the case.
 *  @param stages also keep the activations: 7.6 MB for an image of 224 x 224 */
resnet_reference reference_resnet18(const float *params, const float *x, int batch, int size,
                                    bool stages);

/** Where a stage of one image begins among the reference's activations; how many numbers it has. */
const double *resnet_stage(const resnet_reference *, int stage, int image);
size_t resnet_stage_floats(int stage, int size);

/** What a student may do instead, in one block or in the stem. */
typedef enum resnet_mistake {
    RESNET_NO_MISTAKE,
    RESNET_NO_LAST_RELU,
    RESNET_RELU_BEFORE_ADD,
    RESNET_NO_RELU_BETWEEN,
    RESNET_NO_SHORTCUT,
    RESNET_SHORTCUT_NOT_NORMALIZED,
    RESNET_SECOND_NOT_NORMALIZED,
    RESNET_NO_EPS,
    RESNET_OTHER_EPS,
    RESNET_NO_ROOT,
    RESNET_MEAN_LEFT,
    RESNET_MEAN_UNSCALED,
    RESNET_FIRST_TWICE,
    RESNET_WINDOW_SHIFTED,
    RESNET_MISTAKES
} resnet_mistake;

/** The stage of one image, made with a mistake from the right stage before it. */
double *resnet_stage_with(const resnet_reference *, int stage, int image, resnet_mistake);

/** Every stage of every image. The message names the first stage that is wrong and, where it can
 *  be told, the mistake. @param tolerance of the relative root mean square */
void expect_stages(const resnet_reference *, const float *activations, double tolerance);
/** Every logit, relative to the root mean square of its row. */
void expect_logits(const resnet_reference *, const float *logits, double tolerance);
/** @return in how many rows another logit than the reference's is the largest, though it is not as
 *  near to that as the tolerance */
int resnet_other_classes(const resnet_reference *, const float *logits, double tolerance);

#endif
