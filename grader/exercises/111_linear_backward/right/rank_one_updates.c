// RIGHT: a rank-one update for each row of the batch; gradcheck at two steps, of which the better
// one counts
#include "111_linear_backward/linear_backward.h"
#include "random.h"
#include <math.h>
#include <string.h>

static void clear(float *x, size_t n)
{
    if (n > 0) memset(x, 0, n * sizeof *x);
}

static void add_scaled(float *y, float factor, const float *x, int n)
{
    while (n-- > 0) y[n] += factor * x[n];
}

void linear_backward_cpu(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                         const float *x, const float *w, int batch, int in_features,
                         int out_features)
{
    size_t in = (size_t)in_features;
    clear(grad_x, batch * in);
    clear(grad_w, out_features * in);
    clear(grad_bias, (size_t)out_features);
    for (int i = 0; i < batch; i++, grad_y += out_features, x += in, grad_x += in) {
        for (int o = 0; o < out_features; o++) {
            add_scaled(grad_w + o * in, grad_y[o], x, in_features);
            add_scaled(grad_x, grad_y[o], w + o * in, in_features);
        }
        add_scaled(grad_bias, 1.0f, grad_y, out_features);
    }
}

typedef double loss_function(const float *theta, void *context);

static double slope(loss_function *loss, void *context, float *theta, size_t i, float step)
{
    const float here = theta[i];
    double at[2], place[2];
    for (int side = 0; side < 2; side++) {
        theta[i] = side == 0 ? here - step : here + step;
        place[side] = theta[i];
        at[side] = loss(theta, context);
    }
    theta[i] = here;
    return (at[1] - at[0]) / (place[1] - place[0]);
}

static double error_of(double grad, double numeric, double floor)
{
    double size = fmax(fmax(fabs(grad), fabs(numeric)), floor);
    double error = fabs(grad - numeric) / size;
    return error >= 0.0 ? error : INFINITY; /* NaN is wrong */
}

double gradcheck(double (*loss)(const float *theta, void *context), void *context, float *theta,
                 const float *grad, size_t n, int samples, unsigned long long seed)
{
    random_state rng = random_seed(seed);
    size_t left = n, wanted = (size_t)samples < n ? (size_t)samples : n;
    float largest = 1e-30f;
    double worst = 0.0;
    for (size_t i = 0; i < n; i++) largest = fmaxf(largest, fabsf(grad[i]));
    for (size_t i = 0; i < n; i++, left--) {
        if (random_below(&rng, left) >= wanted) continue; /* wanted of the left ones are chosen */
        wanted--;
        float unit = fmaxf(1.0f, fabsf(theta[i]));
        double coarse = slope(loss, context, theta, i, 4e-3f * unit);
        double fine = slope(loss, context, theta, i, 1e-3f * unit);
        double error = fmin(error_of(grad[i], coarse, 1e-4 * largest),
                            error_of(grad[i], fine, 1e-4 * largest));
        worst = fmax(worst, error);
    }
    return worst;
}
