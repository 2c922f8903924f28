#include "norm_cases.h"

#include <math.h>

float norm_eps = 1e-5f;

void row_moments(const float *row, long cols, double *mean, double *var)
{
    double sum = 0.0, squares = 0.0;
    for (long c = 0; c < cols; c++) sum += row[c];
    *mean = sum / (double)cols;
    for (long c = 0; c < cols; c++) squares += (row[c] - *mean) * (row[c] - *mean);
    *var = squares / (double)cols;
}

double drift_of(long terms)
{
    return 1.0 + sqrt((double)terms) / 64;
}

/* What a row is divided by, as it should be and as mistakes have it. */
typedef double deviation(double mean, double var, long cols);

static double right_deviation(double mean, double var, long cols)
{
    (void)mean, (void)cols;
    return sqrt(var + norm_eps);
}

static double without_eps(double mean, double var, long cols)
{
    (void)mean, (void)cols;
    return sqrt(var);
}

static double eps_outside(double mean, double var, long cols)
{
    (void)mean, (void)cols;
    return sqrt(var) + norm_eps;
}

static double unbiased(double mean, double var, long cols)
{
    (void)mean;
    return sqrt(var * (double)cols / (double)(cols > 1 ? cols - 1 : 1) + norm_eps);
}

static double of_squares(double mean, double var, long cols)
{
    (void)cols;
    return sqrt(var + mean * mean + norm_eps);
}

static double *each_rstd(const float *x, long rows, long cols, deviation *of)
{
    double *rstd = f64_array((size_t)rows);
    for (long r = 0; r < rows; r++) {
        double mean, var;
        row_moments(x + r * cols, cols, &mean, &var);
        rstd[r] = 1.0 / of(mean, var, cols);
    }
    return rstd;
}

void suspect_rstd(const float *x, long rows, long cols)
{
    suspect("eps is left out", each_rstd(x, rows, cols, without_eps));
    suspect("eps is added to the deviation, not to the variance",
            each_rstd(x, rows, cols, eps_outside));
    suspect("the variance is divided by cols - 1", each_rstd(x, rows, cols, unbiased));
    suspect("the variance is the mean of x^2: the mean is not subtracted first",
            each_rstd(x, rows, cols, of_squares));
}

/* Of a row that is not finite the mean is none, and rstd is what max(var, 0) made of it. */
void expect_row_statistics(const float *mean, const float *rstd, const float *x, long rows,
                           long cols)
{
    const size_t n = (size_t)rows;
    double *want_mean = f64_array(n), *want_rstd = f64_array(n), *cancelled = f64_array(n);
    double *mean_scale = f64_array(n), *rstd_scale = f64_array(n);
    const double drift = drift_of(cols);
    for (long r = 0; r < rows; r++) {
        double var;
        row_moments(x + r * cols, cols, &want_mean[r], &var);
        const double reach = fabs(want_mean[r]) + sqrt(var);
        want_rstd[r] = 1.0 / sqrt(var + norm_eps);
        mean_scale[r] = drift * reach + 1e-3;
        rstd_scale[r] = want_rstd[r] * (drift + 0.01 * reach * want_rstd[r]);
        if (!isfinite(want_mean[r])) want_rstd[r] = rstd[r], rstd_scale[r] = 1.0;
        const double got = 1.0 / ((double)rstd[r] * rstd[r]) - norm_eps;
        const bool noise = !(fabs(got - var) > 1e-6 * want_mean[r] * want_mean[r]);
        cancelled[r] = noise ? rstd[r] : want_rstd[r]; /* as it is, where rounding explains that */
    }
    const layout l = {"rstd", 1, n};
    expect_close((layout){"mean", 1, n}, mean, not_finite_as_got(want_mean, mean, n), mean_scale,
                 FP32_NORM_TOLERANCE);
    if (!is_close(l, rstd, want_rstd, rstd_scale, FP32_NORM_TOLERANCE)) {
        suspect("E[x^2] - E[x]^2 cancels where the mean is large: take the mean of (x - mean)^2",
                cancelled);
        suspect_rstd(x, rows, cols);
    }
    expect_close(l, rstd, want_rstd, rstd_scale, FP32_NORM_TOLERANCE);
}

/* Zeros beyond the row, which became -mean: so many that the first element is what it is. */
static double empty_slots;

static double with_empty_slots(double mean, double var, long cols)
{
    return sqrt(var + empty_slots * mean * mean / (double)cols + norm_eps);
}

typedef struct rows_of_norm {
    const float *x, *gamma, *beta;
    long rows, cols;
} rows_of_norm;

static double *normalized(const rows_of_norm *n, deviation *of, double *scale)
{
    double *y = f64_array((size_t)(n->rows * n->cols));
    for (long r = 0; r < n->rows; r++) {
        double mean, var;
        row_moments(n->x + r * n->cols, n->cols, &mean, &var);
        const double divisor = of(mean, var, n->cols);
        const double reach = drift_of(n->cols) * (fabs(mean) + sqrt(var));
        for (long c = 0; c < n->cols; c++) {
            const long i = r * n->cols + c;
            const double factor = n->gamma[c] / divisor;
            y[i] = (n->x[i] - mean) * factor + n->beta[c];
            if (scale) scale[i] = (fabs(n->x[i]) + reach) * fabs(factor) + fabs(n->beta[c]);
        }
    }
    return y;
}

static void suspect_empty_slots(const rows_of_norm *n, const float *y)
{
    double mean, var;
    row_moments(n->x, n->cols, &mean, &var);
    const double deviation = (n->x[0] - mean) * n->gamma[0] / (y[0] - n->beta[0]);
    const double more = (deviation * deviation - norm_eps - var) * (double)n->cols / (mean * mean);
    empty_slots = round(more);
    if (!(empty_slots >= 1.0 && empty_slots <= 1e5) || n->cols < 2) return;
    suspect("slots beyond the end of the row count in the variance: 0 - mean is squared there, too",
            normalized(n, with_empty_slots, NULL));
}

void expect_layernorm(const char *what, const float *y, const float *x, const float *gamma,
                      const float *beta, long rows, long cols)
{
    const rows_of_norm n = {x, gamma, beta, rows, cols};
    double *scale = f64_array((size_t)(rows * cols));
    const double *want =
        not_finite_as_got(normalized(&n, right_deviation, scale), y, (size_t)(rows * cols));
    const layout l = {what, (size_t)rows, (size_t)cols};
    if (!is_close(l, y, want, scale, 2 * FP32_SUM_TOLERANCE)) {
        suspect("eps is left out", normalized(&n, without_eps, NULL));
        suspect("eps is added to the deviation, not to the variance",
                normalized(&n, eps_outside, NULL));
        suspect("the variance is divided by cols - 1", normalized(&n, unbiased, NULL));
        suspect("the divisor is the root of the mean square: the mean is not subtracted first",
                normalized(&n, of_squares, NULL));
        suspect_empty_slots(&n, y);
    }
    expect_close(l, y, want, scale, 2 * FP32_SUM_TOLERANCE);
}

float *random_rows(row_values values, long rows, long cols)
{
    const size_t size = (size_t)(rows * cols);
    float *x = values == AROUND_10000 ? random_f32_between(size, 9998.0f, 10002.0f)
               : values == TINY       ? random_f32_between(size, -0.003f, 0.003f)
                                      : random_f32_between(size, -2.0f, 2.0f);
    for (size_t i = 0; values == EQUAL && i < size; i++) x[i] = 0.75f;
    if (values == WITH_NAN) sprinkle_f32(x, size, NAN, 1);
    if (values == WITH_INFINITY) sprinkle_f32(x, size, INFINITY, 1);
    return x;
}
