/*
 * 111_linear_backward.c: the gradients of a linear layer, and a way to find errors in them.
 *
 * The idea: from y[i][o] = sum over f of x[i][f] * w[o][f] + bias[o], the chain rule gives three
 * sums, and the shapes leave only one way to write each: grad_x = grad_y * w, grad_w = grad_y^T *
 * x, grad_bias = column sums of grad_y. What was shared in the forward pass (a weight, by the whole
 * batch) is summed in the backward pass.
 *
 * gradcheck trusts no algebra: it moves one parameter a little in both directions and compares the
 * losses. The two-sided difference has an error of order step^2, the one-sided one of order step.
 *
 * The cost it removes: days of training with a gradient that is nearly right.
 * The cost it leaves: two losses per parameter, so gradcheck samples the parameters, and belongs in
 * tests. linear_backward_cpu is two matmuls in disguise, at the speed of 103 and 104; 303 does it
 * properly.
 */
#include "111_linear_backward/linear_backward.h"
#include "not_implemented.h"
#include "random.h"
#include <float.h>
#include <math.h>

void linear_backward_cpu(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                         const float *x, const float *w, int batch, int in_features,
                         int out_features)
{
    /* SOLUTION: set all three to zero; then every grad_y[i][o] adds its share to row i of grad_x,
       to row o of grad_w and to grad_bias[o] (about 16 lines). */
    size_t in = (size_t)in_features;
    for (size_t i = 0; i < batch * in; i++) grad_x[i] = 0.0f;
    for (size_t i = 0; i < out_features * in; i++) grad_w[i] = 0.0f;
    for (int o = 0; o < out_features; o++) grad_bias[o] = 0.0f;

    for (int i = 0; i < batch; i++) {
        for (int o = 0; o < out_features; o++) {
            float g = grad_y[(size_t)i * out_features + o];
            for (size_t f = 0; f < in; f++) grad_x[i * in + f] += g * w[o * in + f];
            for (size_t f = 0; f < in; f++) grad_w[o * in + f] += g * x[i * in + f];
            grad_bias[o] += g;
        }
    }
    /* END SOLUTION */
}

/* SOLUTION: slope: the derivative of loss with respect to theta[i] by central differences; restore
   theta[i] (about 11 lines). */
static double slope(double (*loss)(const float *theta, void *context), void *context, float *theta,
                    size_t i)
{
    float here = theta[i];
    float step = 1e-3f * fmaxf(1.0f, fabsf(here));
    float right = here + step, left = here - step; /* rounded: not quite here +- step */

    theta[i] = right;
    double loss_right = loss(theta, context);
    theta[i] = left;
    double loss_left = loss(theta, context);
    theta[i] = here;
    return (loss_right - loss_left) / ((double)right - left);
}
/* END SOLUTION */

/* SOLUTION: relative_error of two derivatives, infinite when one of them is NaN (about 5 lines). */
static double relative_error(double grad, double numeric, double least)
{
    double error = fabs(grad - numeric) / fmax(fmax(fabs(grad), fabs(numeric)), least);
    return isnan(error) ? INFINITY : error;
}
/* END SOLUTION */

double gradcheck(double (*loss)(const float *theta, void *context), void *context, float *theta,
                 const float *grad, size_t n, int samples, unsigned long long seed)
{
    /* SOLUTION: least, a floor far below the largest gradient, so that elements that are nearly
       zero count little; then the worst relative_error of the chosen coordinates (about 12 lines).
     */
    double least = DBL_MIN; /* not 0: two gradients of 0 are equal, not 0 / 0 */
    for (size_t i = 0; i < n; i++) least = fmax(least, 1e-4 * fabs(grad[i]));

    random_state rng = random_seed(seed);
    size_t count = (size_t)samples < n ? (size_t)samples : n;
    double worst = 0.0;
    for (size_t s = 0; s < count; s++) {
        size_t i = count == n ? s : random_below(&rng, n);
        worst = fmax(worst, relative_error(grad[i], slope(loss, context, theta, i), least));
    }
    return worst;
    /* END SOLUTION */
}
