/*
 * gemm_cpu.h: the contract of exercise 108. The conventions are in cpu.h.
 */
#ifndef COURSE_GEMM_CPU_H
#define COURSE_GEMM_CPU_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * c = alpha * op(a) * op(b) + beta * c, the general product of BLAS, with row-major matrices.
 * op(x) is x, or x transposed if its trans_ is not 0. A leading dimension (ld) is the number of
 * floats from the beginning of one row to that of the next, at least the length of a row. Floats
 * between the end of a row and the next row do not belong to the matrix: they are neither used nor
 * written. After the last row there are none.
 * @param a [m x k], transposed [k x m]; not read if alpha is 0
 * @param b [k x n], transposed [n x k]; not read if alpha is 0
 * @param c [m x n]; if beta is 0, its old values do not matter, even if they are NaN
 */
void gemm_cpu(int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc);

#ifdef __cplusplus
}
#endif

#endif
