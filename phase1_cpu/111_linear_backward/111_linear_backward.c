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
    /* TODO: set all three to zero; then every grad_y[i][o] adds its share to row i of grad_x,
       to row o of grad_w and to grad_bias[o] (about 16 lines). */
    NOT_IMPLEMENTED(grad_x, grad_w, grad_bias, grad_y, x, w, batch, in_features, out_features);
}

/* TODO: slope: the derivative of loss with respect to theta[i] by central differences; restore
   theta[i] (about 11 lines). */

/* TODO: relative_error of two derivatives, infinite when one of them is NaN (about 5 lines). */

double gradcheck(double (*loss)(const float *theta, void *context), void *context, float *theta,
                 const float *grad, size_t n, int samples, unsigned long long seed)
{
    /* TODO: least, a floor far below the largest gradient, so that elements that are nearly
       zero count little; then the worst relative_error of the chosen coordinates (about 12 lines).
     */
    NOT_IMPLEMENTED(loss, context, theta, grad, n, samples, seed);
    return 0;
}
