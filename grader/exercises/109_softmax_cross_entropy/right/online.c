// RIGHT: maximum and sum in one pass, the sum rescaled whenever the maximum rises; all in double
#include "109_softmax_cross_entropy/softmax_cross_entropy.h"
#include <math.h>

float softmax_cross_entropy_cpu(float *grad_logits, const float *logits, const int *labels,
                                int rows, int classes)
{
    double loss = 0.0;
    for (int i = 0; i < rows; i++) {
        const float *x = logits + (size_t)i * classes;
        float *grad = grad_logits + (size_t)i * classes;

        double largest = x[0], sum = 1.0;
        for (int j = 1; j < classes; j++) {
            double before = largest;
            largest = fmax(largest, x[j]);
            sum = sum * exp(before - largest) + exp(x[j] - largest);
        }
        double log_sum = largest + log(sum);
        for (int j = 0; j < classes; j++) grad[j] = (float)(exp(x[j] - log_sum) / rows);
        grad[labels[i]] = (float)((exp(x[labels[i]] - log_sum) - 1.0) / rows);
        loss += (log_sum - x[labels[i]]) / rows;
    }
    return (float)loss;
}
