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
    expect_close(l, c, want, scale, FP32_SUM_TOLERANCE);
    expect_norm_close(l, c, want, scale, k, FP32_NORM_TOLERANCE);
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
    expect_product(name, y, with_one, with_bias, batch, out, in + 1);
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
