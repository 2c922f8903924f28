// WRONG: rejects_one_element | accepts
/* gradcheck returns the mean error: one bad element hides among the good ones. */
#include "cpu.h"
#include "random.h"
#include <math.h>

void linear_backward_cpu(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                         const float *x, const float *w, int batch, int in_features,
                         int out_features)
{
    int in = in_features, out = out_features;
    for (int i = 0; i < batch; i++) {
        for (int f = 0; f < in; f++) {
            float sum = 0.0f;
            for (int o = 0; o < out; o++) sum += grad_y[i * out + o] * w[o * in + f];
            grad_x[i * in + f] = sum;
        }
    }
    for (int o = 0; o < out; o++) {
        for (int f = 0; f < in; f++) {
            float sum = 0.0f;
            for (int i = 0; i < batch; i++) sum += grad_y[i * out + o] * x[i * in + f];
            grad_w[o * in + f] = sum;
        }
        float sum = 0.0f;
        for (int i = 0; i < batch; i++) sum += grad_y[i * out + o];
        grad_bias[o] = sum;
    }
}

double gradcheck(double (*loss)(const float *theta, void *context), void *context, float *theta,
                 const float *grad, size_t n, int samples, unsigned long long seed)
{
    double least = 1e-30, worst = 0.0;
    for (size_t i = 0; i < n; i++) least = fmax(least, 1e-4 * fabs(grad[i]));
    random_state rng = random_seed(seed);
    size_t count = (size_t)samples < n ? (size_t)samples : n;
    for (size_t s = 0; s < count; s++) {
        size_t i = count == n ? s : random_below(&rng, n);
        float here = theta[i], step = 1e-3f * fmaxf(1.0f, fabsf(here));
        float right = here + step, left = here - step;
        theta[i] = right;
        double loss_right = loss(theta, context);
        theta[i] = left;
        double loss_left = loss(theta, context);
        theta[i] = here;
        double numeric = (loss_right - loss_left) / ((double)right - left);
        double error = fabs(grad[i] - numeric) / fmax(fmax(fabs(grad[i]), fabs(numeric)), least);
        if (isnan(error)) return INFINITY;
        worst += error / count;
    }
    return worst;
}
