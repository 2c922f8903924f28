/*
 * steps.c: the loop of gpt_train, for a network with another step than 508's: with the same
 * windows, which are a function of the seed and of the step's number.
 */
#include "progress.h"
#include "program.h"
#include "random.h"

#include <stdlib.h>

#define LOOK_EVERY 50 /* steps */

static void draw(size_t *begins, const gpt_training *t, int step, size_t choices)
{
    random_state rng = random_seed(t->seed + (unsigned long long)step);
    for (int b = 0; b < t->batch; b++) begins[b] = random_below(&rng, choices);
}

cudaError_t train_by_steps(training_step *step, gpt *net, float *h_losses, const int *text,
                           size_t count, const gpt_training *t, int steps)
{
    const size_t training = count - count / 10;
    if (training <= (size_t)t->seq) return cudaErrorInvalidValue;
    size_t *begins = malloc((size_t)t->batch * sizeof *begins);
    cudaError_t error = begins ? cudaSuccess : cudaErrorMemoryAllocation;
    progress bar = progress_begin_quiet("train", steps);
    for (int i = 0; i < steps && !error; i++) {
        draw(begins, t, net->step, training - (size_t)t->seq);
        error = step(net, h_losses + i, text, begins, t);
        if ((i + 1) % LOOK_EVERY == 0) progress_step(&bar, i + 1, "loss %.3f", h_losses[i]);
    }
    progress_end(&bar, "trained");
    free(begins);
    return error;
}
