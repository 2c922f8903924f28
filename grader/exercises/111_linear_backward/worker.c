/*
 * worker.c: the losses of 111, which its cases hand to gradcheck: double name(const float *theta,
 * void *context), all sums in double, context unused.
 */
#include "worker/worker.h"

#include "losses.h"

/* A bowl whose axes are not those of theta: neighbours are coupled. */
static double quadratic(const float *theta, double unit)
{
    double sum = 0.0;
    for (int i = 0; i < LOSS_QUADRATIC_N; i++) {
        double here = theta[i] / unit, offset = here - loss_data(i);
        sum += 0.5 * (1 + i) * offset * offset;
        if (i > 0) sum += here * theta[i - 1] / unit;
    }
    return sum;
}

static double loss_quadratic(const float *theta, void *context)
{
    (void)context;
    return quadratic(theta, 1.0);
}

/* Far from zero, where a float keeps no digits for the slopes, and so curved that a step of 0.01 is
 * too long. */
static double loss_waves(const float *theta, void *context)
{
    (void)context;
    double sum = 1000.0;
    for (int i = 0; i < LOSS_QUADRATIC_N; i++) sum += sin(LOSS_WAVES * theta[i]) / LOSS_WAVES;
    return sum;
}

static double loss_tiny(const float *theta, void *context)
{
    (void)context;
    return LOSS_TINY_FACTOR * quadratic(theta, 1.0);
}

static double loss_large(const float *theta, void *context)
{
    (void)context;
    return quadratic(theta, LOSS_LARGE_UNIT);
}

static double loss_flat(const float *theta, void *context)
{
    (void)theta, (void)context;
    return 3.0;
}

static double unit_output(const float *w, const double *x, double bias, int count)
{
    for (int i = 0; i < count; i++) bias += w[i] * x[i];
    return bias;
}

/* Half the squared error of a linear layer, mean over the batch. */
static double loss_linear(const float *theta, void *context)
{
    (void)context;
    double sum = 0.0;
    for (int row = 0; row < LOSS_BATCH; row++) {
        double x[LOSS_IN];
        for (int i = 0; i < LOSS_IN; i++) x[i] = loss_x(row, i);
        for (int o = 0; o < LOSS_OUT; o++) {
            double y = unit_output(theta + o * LOSS_IN, x, theta[LOSS_OUT * LOSS_IN + o], LOSS_IN);
            sum += 0.5 * (y - loss_target(row, o)) * (y - loss_target(row, o));
        }
    }
    return sum / LOSS_BATCH;
}

/* Cross-entropy of one row: log of the sum of the exponentials, less the label's logit. */
static double row_cross_entropy(const double *logits, int label)
{
    double sum = 0.0;
    for (int o = 0; o < LOSS_OUT; o++) sum += exp(logits[o]);
    return log(sum) - logits[label];
}

/* A network with one hidden layer of tanh, mean over the batch. */
static double loss_mlp(const float *theta, void *context)
{
    (void)context;
    const float *w1 = theta, *bias1 = w1 + LOSS_HIDDEN * LOSS_IN;
    const float *w2 = bias1 + LOSS_HIDDEN, *bias2 = w2 + LOSS_OUT * LOSS_HIDDEN;
    double sum = 0.0;
    for (int row = 0; row < LOSS_BATCH; row++) {
        double x[LOSS_IN], hidden[LOSS_HIDDEN], logits[LOSS_OUT];
        for (int i = 0; i < LOSS_IN; i++) x[i] = loss_x(row, i);
        for (int h = 0; h < LOSS_HIDDEN; h++) {
            hidden[h] = tanh(unit_output(w1 + h * LOSS_IN, x, bias1[h], LOSS_IN));
        }
        for (int o = 0; o < LOSS_OUT; o++) {
            logits[o] = unit_output(w2 + o * LOSS_HIDDEN, hidden, bias2[o], LOSS_HIDDEN);
        }
        sum += row_cross_entropy(logits, loss_label(row));
    }
    return sum / LOSS_BATCH;
}

WORKER_FUNCTION(loss_quadratic);
WORKER_FUNCTION(loss_waves);
WORKER_FUNCTION(loss_tiny);
WORKER_FUNCTION(loss_large);
WORKER_FUNCTION(loss_flat);
WORKER_FUNCTION(loss_linear);
WORKER_FUNCTION(loss_mlp);
