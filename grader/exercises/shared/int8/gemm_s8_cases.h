/*
 * gemm_s8_cases.h: exact products of int8, c[m x n] = a[m x k] b[n x k]^T, of 413 and 4f.
 */
#ifndef GRADER_GEMM_S8_CASES_H
#define GRADER_GEMM_S8_CASES_H

#include "correctness/case.h"

/* shape: m, n, k, values, and how many bytes beyond an aligned address a and b begin */
enum { S8_ANY, S8_LOWEST, S8_LARGE };

/** Random values, one call, and each sum is compared; of many terms a projection of c. */
void s8_product(const char *function, const long *shape);
/** @return c of one call */
int *s8_multiply(const char *function, const int8_t *a, const int8_t *b, const long *shape);

#endif
