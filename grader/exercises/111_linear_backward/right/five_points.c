// RIGHT: grad_w and grad_x as dot products; gradcheck with five points, a shuffle, another floor
#include "111_linear_backward/linear_backward.h"
#include "random.h"
#include <math.h>
#include <stdlib.h>

static float dot(const float *x, size_t x_stride, const float *y, size_t y_stride, int count)
{
    float sum = 0.0f;
    for (int i = 0; i < count; i++) sum += x[i * x_stride] * y[i * y_stride];
    return sum;
}

void linear_backward_cpu(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                         const float *x, const float *w, int batch, int in_features,
                         int out_features)
{
    const float one = 1.0f;
    size_t in = (size_t)in_features, out = (size_t)out_features;
    for (size_t i = 0; i < (size_t)batch; i++) {
        for (size_t f = 0; f < in; f++) {
            grad_x[i * in + f] = dot(grad_y + i * out, 1, w + f, in, out_features);
        }
    }
    for (size_t o = 0; o < out; o++) {
        for (size_t f = 0; f < in; f++) {
            grad_w[o * in + f] = dot(grad_y + o, out, x + f, in, batch);
        }
        grad_bias[o] = dot(grad_y + o, out, &one, 0, batch);
    }
}

typedef double loss_function(const float *theta, void *context);

/* The loss at theta[i] + offset; *moved is by how much theta[i] really moved. */
static double loss_at(loss_function *loss, void *context, float *theta, size_t i, double offset,
                      double *moved)
{
    float here = theta[i];
    theta[i] = (float)(here + offset);
    *moved = (double)theta[i] - here;
    double value = loss(theta, context);
    theta[i] = here;
    return value;
}

/* Central differences with two steps; their combination cancels the error of order step^2. */
static double slope(loss_function *loss, void *context, float *theta, size_t i)
{
    double step = 4e-3 * fmax(0.25, fabs(theta[i])), difference[2], left, right;
    for (int scale = 1; scale <= 2; scale++) {
        double high = loss_at(loss, context, theta, i, scale * step, &right);
        double low = loss_at(loss, context, theta, i, -scale * step, &left);
        difference[scale - 1] = (high - low) / (right - left);
    }
    return (4.0 * difference[0] - difference[1]) / 3.0;
}

double gradcheck(double (*loss)(const float *theta, void *context), void *context, float *theta,
                 const float *grad, size_t n, int samples, unsigned long long seed)
{
    int *order = malloc((n + 1) * sizeof *order);
    if (order == NULL) return INFINITY;
    for (size_t i = 0; i < n; i++) order[i] = (int)i;
    random_state rng = random_seed(seed);
    random_shuffle(&rng, order, n);

    double squares = 0.0, worst = 0.0;
    for (size_t i = 0; i < n; i++) squares += (double)grad[i] * grad[i];
    double least = 1e-3 * sqrt(squares / (double)(n + 1)) + 1e-300;

    for (size_t s = 0; s < n && s < (size_t)samples; s++) {
        size_t i = (size_t)order[s];
        double numeric = slope(loss, context, theta, i);
        double error = fabs(grad[i] - numeric) / (fabs(grad[i]) + fabs(numeric) + least);
        if (!(error <= worst)) worst = isnan(error) ? INFINITY : error;
    }
    free(order);
    return worst;
}
