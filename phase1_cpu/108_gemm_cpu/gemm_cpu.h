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
 * op(x) is x, or x transposed where its trans_ is not 0. A leading dimension (ld) is how many
 * floats further the next row begins, at least as many as a row has. What lies between the end of a
 * row and the next one belongs to somebody else: it is neither used nor written, and after the last
 * row there is nothing.
 * @param a [m x k], transposed [k x m]; not read where alpha is 0
 * @param b [k x n], transposed [n x k]; not read where alpha is 0
 * @param c [m x n]; what it holds does not matter where beta is 0, even if it is NaN
 */
void gemm_cpu(int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc);

#ifdef __cplusplus
}
#endif

#endif
