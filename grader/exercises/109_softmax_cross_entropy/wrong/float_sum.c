// WRONG: 8x100000 | grad_logits
/* Sums the exponentials in a float: with 100,000 of them the small ones get lost. */
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

        float sum = 0.0;
        for (int j = 0; j < classes; j++) sum += expf(x[j] - largest);
        for (int j = 0; j < classes; j++) {
            grad[j] = (float)((expf(x[j] - largest) / sum - (j == labels[i])) / rows);
        }
        loss += log(sum) - ((double)x[labels[i]] - largest);
    }
    return (float)(loss / rows);
}
