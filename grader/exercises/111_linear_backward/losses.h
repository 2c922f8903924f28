/*
 * losses.h: the shapes and the fixed data of the losses in worker.c, which the cases of 111
 * differentiate. theta[QUADRATIC_N]; or theta = w[OUT x IN], bias[OUT]; or theta = w1[HIDDEN x IN],
 * bias1[HIDDEN], w2[OUT x HIDDEN], bias2[OUT].
 */
#ifndef LOSSES_H
#define LOSSES_H

#include <math.h>

#define LOSS_QUADRATIC_N 12
#define LOSS_BATCH       6
#define LOSS_IN          5
#define LOSS_HIDDEN      4
#define LOSS_OUT         3
#define LOSS_LINEAR_N    (LOSS_OUT * LOSS_IN + LOSS_OUT)
#define LOSS_MLP_N       (LOSS_HIDDEN * LOSS_IN + LOSS_HIDDEN + LOSS_OUT * LOSS_HIDDEN + LOSS_OUT)
#define LOSS_LARGE_UNIT  1000.0 /* loss_large is the quadratic of theta / LOSS_LARGE_UNIT */
#define LOSS_WAVES       40.0   /* radians of loss_waves that theta moves it by in a unit */
#define LOSS_TINY_FACTOR 1e-6   /* loss_tiny is the quadratic times this */

/** Number i of the data: without pattern, in (-1, 1). */
static inline double loss_data(int i)
{
    return sin(12.9898 * (i + 1));
}

/** x[LOSS_BATCH x LOSS_IN] of the linear layer and of the network */
static inline double loss_x(int row, int feature)
{
    return loss_data(100 + row * LOSS_IN + feature);
}

/** target[LOSS_BATCH x LOSS_OUT] of the linear layer */
static inline double loss_target(int row, int output)
{
    return loss_data(200 + row * LOSS_OUT + output);
}

/** label[LOSS_BATCH] of the network */
static inline int loss_label(int row)
{
    return row * 2 % LOSS_OUT;
}

#endif
