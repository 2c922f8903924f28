/*
 * layer_cases.h: what the cases of several layers share. Sizes in rows and columns, row-major.
 */
#ifndef GRADER_LAYER_CASES_H
#define GRADER_LAYER_CASES_H

#include "correctness/case.h"

/** @return [cols x rows], a copy of x[rows x cols] with rows and columns exchanged */
float *transposed(const float *x, long rows, long cols);

/** @return `count` rows of so many: of large outputs a sample is checked. The last is among them:
 *  the tail is what gets lost. */
int *sampled_rows(long count, long rows);

/** @return [count x cols], the rows of x[. x cols] that `rows` names */
float *rows_of(const float *x, long cols, const int *rows, long count);

/** As expect_matmul, c[m x n] = a[m x k] * b[k x n], with the name of c in the message. */
void expect_product(const char *name, const float *c, const float *a, const float *b, long m,
                    long n, long k);

/** `want` [rows x cols] is not what came out: was its bias[cols] left out, or taken by row? */
void suspect_bias(const double *want, const float *bias, size_t rows, size_t cols);

/** y[batch x out] = x * w^T + bias; bias may be NULL. */
void expect_linear(const char *name, const float *y, const float *x, const float *w,
                   const float *bias, long batch, long in, long out);

/**
 * How wrong an honest fp32 softmax may be, to be multiplied by FP32_NORM_TOLERANCE: exp magnifies
 * the rounding of x - max, and a sum of many terms drifts.
 * @param y [rows x cols] the softmax of x in double
 * @return [rows x cols]
 */
double *softmax_scale(const double *y, const float *x, long rows, long cols);

/** What came out is not y[rows x cols], the softmax of x: a wrong maximum? A masked row? */
void suspect_softmax(const double *y, const float *x, long rows, long cols);

/** y against the softmax of each row of x [rows x cols] in double, where a NaN makes all of its row
 *  NaN. */
void expect_softmax_rows(const float *y, const float *x, long rows, long cols);

/** What a batch normalization needs at inference, each [channels]. */
typedef struct statistics {
    float *mean, *var, *gamma, *beta;
} statistics;

statistics random_statistics(size_t channels);

/** The four arguments. */
#define STATISTICS(s, channels)                                                                    \
    in_f32("mean", (s).mean, channels), in_f32("var", (s).var, channels),                          \
        in_f32("gamma", (s).gamma, channels), in_f32("beta", (s).beta, channels)

#endif
