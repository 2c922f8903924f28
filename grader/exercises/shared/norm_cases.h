/*
 * norm_cases.h: what rows that are normalized (311, 405) are held against. Arrays are [rows x
 * cols], gamma and beta [cols].
 */
#ifndef GRADER_NORM_CASES_H
#define GRADER_NORM_CASES_H

#include "correctness/case.h"

/** eps of the case, under the root. */
extern float norm_eps;

/** Mean of a row and mean of the squared distances to it. */
void row_moments(const float *row, long cols, double *mean, double *var);

/** What an honest sum of so many terms drifts, in roundings of its size. */
double drift_of(long terms);

/** rstd[rows] of these rows is not what came out: where eps and n were mistaken. */
void suspect_rstd(const float *x, long rows, long cols);

/** mean and rstd [rows] of x [rows x cols]: of each row, with norm_eps under the root. */
void expect_row_statistics(const float *mean, const float *rstd, const float *x, long rows,
                           long cols);

/** y against the layer normalization of x in double. @param what the name of y in messages */
void expect_layernorm(const char *what, const float *y, const float *x, const float *gamma,
                      const float *beta, long rows, long cols);

/** The inputs of a case. */
typedef enum row_values {
    AROUND_0,
    AROUND_10000, /* where the mean of the squares minus the square of the mean is noise */
    EQUAL,        /* no variance at all */
    TINY,         /* a variance below eps */
    WITH_NAN,     /* one, in some row */
    WITH_INFINITY,
} row_values;

float *random_rows(row_values, long rows, long cols);

#endif
