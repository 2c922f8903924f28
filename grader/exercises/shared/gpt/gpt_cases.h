/*
 * gpt_cases.h: what exercises 508 to 510 and 513 have in common: the network in double, and the
 * calls of the student's.
 */
#ifndef GRADER_GPT_CASES_H
#define GRADER_GPT_CASES_H

#include "correctness/case.h"
#include "gpt_layout.h"

/** Relative to the norm of an array, or to the largest of its elements; losses and logits. */
#define GPT_TOLERANCE 1e-4

/** What a student may do instead in the forward pass, in every layer. */
typedef enum gpt_mistake {
    GPT_RIGHT,
    GPT_SCALE_OF_CHANNELS,
    GPT_NO_SCALE,
    GPT_LOOKS_AHEAD,
    GPT_NO_POSITIONS,
    GPT_NO_RESIDUAL,
    GPT_RESIDUAL_OF_NORM,
    GPT_NORM_OF_INPUT,
    GPT_NO_GELU,
    GPT_NO_LAST_NORM,
    GPT_MISTAKES
} gpt_mistake;

/** The network in double. */
typedef struct reference_gpt {
    gpt_config config;
    double *params, *grad, *m, *v; /* [gpt_params] each */
    double *head_grad; /* [vocab x channels] the part of wte's gradient that came from the logits */
    double *slack; /* [gpt_params] how far an honest network may be off after the updates so far */
    double
        rounding; /* of a gradient, relative to the largest of its array; at first that of fp32 */
    double beta1, beta2, eps; /* of AdamW; at first 0.9, 0.95, 1e-8 */
    int step;
    gpt_mistake mistake; /* of its forward pass */

    int batch, seq; /* of the last forward pass; and what it left: */
    const int *tokens, *targets;
    struct reference_layer *layers;
    double *x, *lnf, *mean, *rstd, *logits; /* logits [batch x seq x vocab] */
} reference_gpt;

/** Of shape: vocab, context, layers, heads, channels. */
gpt_config gpt_config_of(const long *shape);
/** Parameters as gpt_init's, with nothing 0 or 1: a bias that is left out shows. */
float *gpt_random_params(const gpt_config *);
reference_gpt reference_gpt_create(const gpt_config *, const float *params);
/** tokens and targets, which may be NULL, must stay. @return the mean loss, or 0 */
double reference_gpt_forward(reference_gpt *, const int *tokens, const int *targets, int batch,
                             int seq);
/** The gradients of the last forward pass. */
void reference_gpt_backward(reference_gpt *);
/** AdamW, as gpt_update. @return the norm before clipping */
double reference_gpt_update(reference_gpt *, double lr, double weight_decay, double max_norm);

/** A run of `steps` steps of which a third is warmup, with a seed of the case. */
gpt_training gpt_training_of(int batch, int seq, int steps);
/** The next step of 509's gpt_train. @param text [training] tokens, those of training alone
 *  @return the loss before the update */
double reference_gpt_train_step(reference_gpt *, const int *text, size_t training,
                                const gpt_training *);

/* The student's networks, by the number of their handle. */
void gpt_create_here(int net, const gpt_config *, const float *params);
/** @param loss [1], logits [batch x seq x vocab], targets [batch x seq]: each may be NULL */
void gpt_forward_here(int net, const gpt_config *, float *loss, float *logits, const int *tokens,
                      const int *targets, int batch, int seq);
void gpt_backward_here(int net);
/** With the betas and eps of the reference. */
void gpt_update_here(int net, const reference_gpt *, float lr, float weight_decay, float max_norm);
void gpt_get_here(const char *function, int net, const gpt_config *, float *out);
void gpt_free_here(int net);

/** What all parameters or gradients would be after a mistake that the words describe. */
typedef struct gpt_suspicion {
    const char *words;
    const double *wrong; /* [gpt_params] */
} gpt_suspicion;

/**
 * Array by array: every element, against the largest of its array, and the norm.
 * @param slack      as in reference_gpt, and then elements alone; or NULL
 * @param what       e.g. "the gradient of": stands before the name of an array
 * @param suspicions end with one without words; or NULL
 */
void gpt_expect_arrays(const gpt_config *, const float *got, const double *want,
                       const double *slack, const char *what, const gpt_suspicion *suspicions);
/** The same within other tolerances than GPT_TOLERANCE for both. */
void gpt_expect_arrays_within(double of_largest, double of_norm, const gpt_config *,
                              const float *got, const double *want, const double *slack,
                              const char *what, const gpt_suspicion *suspicions);
/** All gradients, within such tolerances. @param earlier those of the step before, or NULL */
void gpt_expect_gradients(double of_largest, double of_norm, const reference_gpt *,
                          const float *got, const double *earlier);
/** What became of a loss. @param what e.g. "the loss of step 3" */
void gpt_expect_loss(const char *what, float got, double want, double tolerance);
/** The loss of gpt_init's parameters, over random targets. */
void gpt_expect_first_loss(const gpt_config *, float got);
/** Multiply-adds of a forward pass in its products, times two. */
double gpt_forward_flop(const gpt_config *, double tokens);

#endif
