// RIGHT: grad_logits holds the exponentials between two passes; sums of four columns side by side
#include "109_softmax_cross_entropy/softmax_cross_entropy.h"
#include <math.h>

static float largest_of(const float *x, int n)
{
    float largest = -INFINITY;
    while (n-- > 0) largest = x[n] > largest ? x[n] : largest;
    return largest;
}

/* y = exp(x - shift); returns its sum. */
static double exponentials(float *y, const float *x, int n, float shift)
{
    double sum[4] = {0.0};
    for (int j = 0; j < n; j++) {
        y[j] = expf(x[j] - shift);
        sum[j % 4] += y[j];
    }
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

float softmax_cross_entropy_cpu(float *grad_logits, const float *logits, const int *labels,
                                int rows, int classes)
{
    const double share = rows > 0 ? 1.0 / rows : 0.0;
    double loss = 0.0;
    for (int i = 0; i < rows; i++, logits += classes, grad_logits += classes) {
        float largest = largest_of(logits, classes);
        double sum = exponentials(grad_logits, logits, classes, largest);
        for (int j = 0; j < classes; j++) {
            double probability = grad_logits[j] / sum;
            grad_logits[j] = (float)(share * (j == labels[i] ? probability - 1.0 : probability));
        }
        loss += share * (log(sum) + ((double)largest - logits[labels[i]]));
    }
    return (float)loss;
}
