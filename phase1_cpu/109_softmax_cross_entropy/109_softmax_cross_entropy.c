/*
 * 109_softmax_cross_entropy.c: the loss of a classifier and its gradient, without overflow.
 *
 * The idea: exp(1000) is infinite, but softmax does not change when a constant is subtracted from
 * a whole row. Subtract the maximum: the largest exponential is then 1, none overflows, and the sum
 * is at least 1. The loss comes from the same numbers, -log softmax = log(sum) - (logit - maximum),
 * so a probability that underflows to 0 still has its exact logarithm.
 *
 * The cost it removes: a NaN for every large logit, and, because softmax and loss are one function,
 * the Jacobian between them: all that is left of it is softmax - onehot.
 * The cost it leaves: four passes over each row (the last, which divides by the number of rows,
 * could be part of the third). On the GPU the passes are the main cost; 304 and 305 return to them.
 */
#include "109_softmax_cross_entropy/softmax_cross_entropy.h"
#include "not_implemented.h"
#include <math.h>

/* TODO: row_loss: grad[classes] = softmax - onehot of one row; return its loss. Sum in double,
   100,000 small floats are too many for a float (about 14 lines). */

float softmax_cross_entropy_cpu(float *grad_logits, const float *logits, const int *labels,
                                int rows, int classes)
{
    /* TODO: 0 for no rows; else the mean of the rows' losses, and each gradient divided by the
       number of rows (about 8 lines). */
    NOT_IMPLEMENTED(grad_logits, logits, labels, rows, classes);
    return 0;
}
