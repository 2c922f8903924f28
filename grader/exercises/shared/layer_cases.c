#include "layer_cases.h"

#include <math.h>

#define FULL_CHECK_TERMS 100000000L /* products with more terms are left to expect_matmul */

float *transposed(const float *x, long rows, long cols)
{
    float *t = f32_array((size_t)(rows * cols));
    for (long r = 0; r < rows; r++) {
        for (long c = 0; c < cols; c++) t[c * rows + r] = x[r * cols + c];
    }
    return t;
}

int *sampled_rows(long count, long rows)
{
    int *some = random_i32((size_t)count, 0, (int)rows);
    some[0] = (int)rows - 1;
    return some;
}

float *rows_of(const float *x, long cols, const int *rows, long count)
{
    float *some = f32_array((size_t)(count * cols));
    for (long r = 0; r < count; r++) {
        for (long c = 0; c < cols; c++) some[r * cols + c] = x[rows[r] * cols + c];
    }
    return some;
}

void expect_product(const char *name, const float *c, const float *a, const float *b, long m,
                    long n, long k)
{
    if (m * n * k > FULL_CHECK_TERMS) {
        expect_matmul(c, a, b, m, n, k);
        return;
    }
    double *want = f64_array((size_t)(m * n)), *scale = f64_array((size_t)(m * n));
    const layout l = {name, (size_t)m, (size_t)n};
    reference_matmul(want, scale, a, b, m, n, k);
    if (!is_close(l, c, want, scale, FP32_SUM_TOLERANCE)) suspect_product(c, a, b, m, n, k);
    expect_close(l, c, want, scale, FP32_SUM_TOLERANCE);
    expect_norm_close(l, c, want, scale, k, FP32_NORM_TOLERANCE);
}

void suspect_bias(const double *want, const float *bias, size_t rows, size_t cols)
{
    double *without = f64_array(rows * cols), *by_row = f64_array(rows * cols);
    for (size_t i = 0; i < rows * cols; i++) {
        without[i] = want[i] - bias[i % cols];
        by_row[i] = without[i] + bias[i / cols % cols];
    }
    suspect("the bias is not added", without);
    suspect("the bias is that of the row, not of the column", by_row);
}

/* What comes of a w that is read as [in x out]. */
static void suspect_weights(const float *x, const float *w, const float *bias, long batch, long in,
                            long out)
{
    double *wrong = f64_array((size_t)(batch * out));
    reference_matmul(wrong, NULL, x, w, batch, out, in);
    for (long i = 0; bias && i < batch * out; i++) wrong[i] += bias[i % out];
    suspect("w is read as if it were transposed", wrong);
}

/* The bias is one more weight, whose input is 1: y = [x 1] * [w bias]^T is a plain product. */
void expect_linear(const char *name, const float *y, const float *x, const float *w,
                   const float *bias, long batch, long in, long out)
{
    float *with_one = f32_array((size_t)(batch * (in + 1)));
    float *with_bias = f32_array((size_t)((in + 1) * out));
    for (long r = 0; r < batch; r++) {
        for (long i = 0; i < in; i++) with_one[r * (in + 1) + i] = x[r * in + i];
        with_one[r * (in + 1) + in] = 1.0f;
    }
    for (long o = 0; o < out; o++) {
        for (long i = 0; i < in; i++) with_bias[i * out + o] = w[o * in + i];
        with_bias[in * out + o] = bias ? bias[o] : 0.0f;
    }
    if (batch * out * (in + 1) > FULL_CHECK_TERMS) {
        expect_matmul(y, with_one, with_bias, batch, out, in + 1);
        return;
    }
    const size_t size = (size_t)(batch * out);
    double *want = f64_array(size), *scale = f64_array(size);
    const layout l = {name, (size_t)batch, (size_t)out};
    reference_matmul(want, scale, with_one, with_bias, batch, out, in + 1);
    if (!is_close(l, y, want, scale, FP32_SUM_TOLERANCE)) {
        suspect_weights(x, w, bias, batch, in, out);
        if (bias) suspect_bias(want, bias, (size_t)batch, (size_t)out);
    }
    expect_close(l, y, want, scale, FP32_SUM_TOLERANCE);
    expect_norm_close(l, y, want, scale, in + 1, FP32_NORM_TOLERANCE);
}

static double row_max(const float *row, long cols, double top)
{
    for (long c = 0; c < cols; c++) top = fmax(top, row[c]);
    return top;
}

/* As fp32 has it, whose exp overflows at 89. */
static void naive_softmax(double *y, const float *row, long cols, float top)
{
    float sum = 0.0f;
    for (long c = 0; c < cols; c++) sum += expf(row[c] - top);
    for (long c = 0; c < cols; c++) y[c] = expf(row[c] - top) / sum;
}

/* A row that is masked as a whole is a mistake of its own, and no sign of another. */
void suspect_softmax(const double *y, const float *x, long rows, long cols)
{
    const size_t size = (size_t)(rows * cols);
    double *no_max = f64_array(size), *sum_only = f64_array(size), *max_0 = f64_array(size),
           *masked = f64_array(size);
    for (long r = 0; r < rows; r++) {
        const float *row = x + r * cols;
        const bool all_masked = row_max(row, cols, -INFINITY) == -INFINITY;
        for (long i = r * cols; i < (r + 1) * cols; i++) masked[i] = all_masked ? NAN : y[i];
        if (all_masked) continue;
        const double top = row_max(row, cols, -INFINITY);
        for (long i = r * cols; i < (r + 1) * cols; i++) sum_only[i] = y[i] * exp(-top);
        naive_softmax(no_max + r * cols, row, cols, 0.0f);
        naive_softmax(max_0 + r * cols, row, cols, (float)row_max(row, cols, 0.0));
    }
    suspect("a fully masked row (-inf) becomes 0 / 0 or inf - inf: it must be 0", masked);
    suspect("the maximum is not subtracted before exp", no_max);
    suspect("the sum is that of exp(x), not of exp(x - max)", sum_only);
    suspect("the maximum starts at 0", max_0);
}

double *softmax_scale(const double *y, const float *x, long rows, long cols)
{
    double *scale = f64_array((size_t)(rows * cols));
    for (long r = 0; r < rows; r++) {
        double top = -INFINITY;
        for (long c = 0; c < cols; c++) top = fmax(top, x[r * cols + c]);
        for (long c = 0; c < cols; c++) {
            const long i = r * cols + c;
            const double depth = y[i] > 0.0 ? top - x[i] : 0.0;
            const double drift = sqrt((double)cols) / 64;
            scale[i] = y[i] * (1 + depth + drift) + 1e-32; /* denormals have fewer bits */
        }
    }
    return scale;
}

void expect_softmax_rows(const float *y, const float *x, long rows, long cols)
{
    double *want = f64_array((size_t)(rows * cols));
    reference_softmax(want, x, rows, cols);
    for (long r = 0; r < rows; r++) {
        double sum = 0.0;
        for (long i = r * cols; i < (r + 1) * cols; i++) sum += want[i];
        for (long i = r * cols; i < (r + 1) * cols && isnan(sum); i++) want[i] = NAN;
    }
    const layout l = {"y", (size_t)rows, (size_t)cols};
    const double *scale = softmax_scale(want, x, rows, cols);
    if (!is_close(l, y, want, scale, FP32_NORM_TOLERANCE)) suspect_softmax(want, x, rows, cols);
    expect_close(l, y, want, scale, FP32_NORM_TOLERANCE);
}

statistics random_statistics(size_t channels)
{
    return (statistics){random_f32(channels), random_f32_between(channels, 0.01f, 2.0f),
                        random_f32_between(channels, -2.0f, 2.0f), random_f32(channels)};
}
