/*
 * mlp_cases.h: what exercises 112 and 501 have in common. It is the same network, so the cases are
 * the same, and the reference, in double, is the same: what agrees with it step by step on the CPU
 * and on the GPU agrees with each other.
 */
#ifndef GRADER_MLP_CASES_H
#define GRADER_MLP_CASES_H

#include "correctness/case.h"
#include "cpu.h"
#include "mnist.h"

/** Relative, of losses and of the norm of each array of parameters, after 20 steps. */
#define MLP_TOLERANCE 1e-5

#define MLP_PARTS     4

/** What a student may have done instead: then losses and parameters are those of this network. */
typedef enum mlp_mistake {
    MLP_RIGHT,
    MLP_NO_LABEL,
    MLP_OPEN_RELU,
    MLP_NO_ROOT,
    MLP_SUMMED,
    MLP_GRAD_KEPT,
    MLP_NO_CORRECTION,
    MLP_STEP_STUCK,
    MLP_MISTAKES,
} mlp_mistake;

/** The network in double. */
typedef struct reference_mlp {
    mlp_mistake mistake;
    double *params, *grad, *m, *v; /* [MLP_PARAMS] each */
    int step;
    double drift[MLP_PARTS]; /* of w1, bias1, w2, bias2: how far honest fp32 may be off by now */
    double nearest; /* the |pre| nearest to 0 so far: where fp32 could take ReLU's other branch */
} reference_mlp;

/** A run with `nearest` below this is no judge; fp32 rarely errs by more. */
#define MLP_SAFE_MARGIN 5e-7

reference_mlp reference_mlp_create(const float *params);
/** @return the mean loss before the step */
double reference_mlp_train(reference_mlp *, const float *x, const int *labels, int batch, float lr);
void reference_mlp_predict(const reference_mlp *, double *logits, const float *x, int batch);

/** Parameters of a new network: w uniform in (-scale, scale) / sqrt(inputs), biases not 0. */
float *mlp_random_params(float scale);
/** Draw digits into images[count x MLP_INPUTS]. */
int *mlp_draw(float *images, int count);
/** The data of the course, loaded once; fails the case when a copy is damaged. */
const mnist *mlp_data(void);

/* The student's network, number 0 of the worker's handles, by the place's functions. */
void mlp_create_here(const float *params);
float mlp_train_here(const float *x, const int *labels, int batch, float lr);
void mlp_predict_here(float *logits, const float *x, int batch);
void mlp_get_params_here(float *params);
void mlp_free_here(void);

/** The last call's kernels, where they are counted, did the work of so many images. */
void mlp_expect_operations(const char *function, double trained, double predicted);

/** Parameters are those of the reference, each array within 1e-5 of its norm. */
void mlp_expect_params(const reference_mlp *, const char *when);
/** The same of params[MLP_PARAMS] that the caller got. */
void mlp_expect_these(const reference_mlp *, const float *params, const char *when);
/** Would mlp_expect_these be content? */
bool mlp_params_agree(const reference_mlp *, const float *params);
/** What a network is told of that likely mistake, from "; " on. */
const char *mlp_mistake_words(mlp_mistake);
/** Share of rows whose largest logit is that of the label. */
double mlp_accuracy(const float *logits, const int *labels, int count);

/** One batch after the other as the reference. shape: batch sizes, 0 ends the list; or batch,
 *  -steps */
void mlp_parity(const long *shape);
/** Logits as the reference's. A batch of more than one image has one with a NaN, whose logits are
 *  NaN. shape: batch sizes, 0 ends */
void mlp_prediction(const long *shape);
/** A new network knows nothing: loss ln 10, accuracy near 10 %. */
void mlp_first_loss(const long *shape);
/** One batch again and again, until the loss is below 1e-2. shape: batch, most steps */
void mlp_overfit(const long *shape);

#endif
