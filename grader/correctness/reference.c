/* reference.c: the expected results of several exercises, computed plainly and in double. */
#include "correctness.h"

#include <math.h>

void reference_matmul(double *c, double *scale, const float *a, const float *b, long m, long n,
                      long k)
{
    for (long i = 0; i < m; i++) {
        for (long j = 0; j < n; j++) {
            c[i * n + j] = 0.0;
            if (scale) scale[i * n + j] = 0.0;
        }
        for (long p = 0; p < k; p++) {
            const double from_a = a[i * k + p];
            for (long j = 0; j < n; j++) c[i * n + j] += from_a * b[p * n + j];
            for (long j = 0; scale && j < n; j++) scale[i * n + j] += fabs(from_a * b[p * n + j]);
        }
    }
}

void reference_softmax(double *y, const float *x, long rows, long cols)
{
    for (long r = 0; r < rows; r++) {
        double top = -INFINITY, sum = 0.0;
        for (long c = 0; c < cols; c++) top = fmax(top, x[r * cols + c]);
        if (isinf(top) && top < 0) top = 0.0; /* all are masked, or NaN, which stays */
        for (long c = 0; c < cols; c++) {
            y[r * cols + c] = exp(x[r * cols + c] - top);
            sum += y[r * cols + c];
        }
        for (long c = 0; c < cols && sum > 0; c++) y[r * cols + c] /= sum;
    }
}

double reference_cross_entropy(double *loss, double *grad_logits, const float *logits,
                               const int *labels, long rows, long classes, int ignore_index)
{
    double total = 0.0;
    long valid = 0;
    for (long r = 0; r < rows; r++) valid += labels[r] != ignore_index;
    for (long r = 0; r < rows; r++) {
        const float *row = logits + r * classes;
        double top = -INFINITY, sum = 0.0, row_loss = 0.0;
        const bool ignored = labels[r] == ignore_index;
        for (long c = 0; c < classes; c++) top = fmax(top, row[c]);
        for (long c = 0; c < classes; c++) sum += exp(row[c] - top);
        if (!ignored) row_loss = top + log(sum) - row[labels[r]];
        for (long c = 0; c < classes; c++) {
            double p = exp(row[c] - top) / sum - (c == labels[r]);
            grad_logits[r * classes + c] = ignored ? 0.0 : p / valid;
        }
        if (loss) loss[r] = row_loss;
        total += row_loss;
    }
    return valid > 0 ? total / valid : 0.0;
}
