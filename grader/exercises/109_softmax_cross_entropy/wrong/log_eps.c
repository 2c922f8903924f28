// WRONG: hopeless_label | the mean loss is 23
/* Adds a little to the probability before the logarithm: the loss cannot exceed 23. */
#include "cpu.h"
#include <math.h>

float softmax_cross_entropy_cpu(float *grad_logits, const float *logits, const int *labels,
                                int rows, int classes)
{
    if (rows == 0) return 0.0f;
    double loss = 0.0;
    for (int i = 0; i < rows; i++) {
        const float *x = logits + (size_t)i * classes;
        float *grad = grad_logits + (size_t)i * classes;
        float largest = x[0];
        for (int j = 1; j < classes; j++) largest = fmaxf(largest, x[j]);

        double sum = 0.0;
        for (int j = 0; j < classes; j++) sum += expf(x[j] - largest);
        for (int j = 0; j < classes; j++) {
            grad[j] = (float)((expf(x[j] - largest) / sum - (j == labels[i])) / rows);
        }
        loss += -log(exp((double)x[labels[i]] - largest) / sum + 1e-10);
    }
    return (float)(loss / rows);
}
