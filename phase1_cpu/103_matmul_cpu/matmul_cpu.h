/*
 * matmul_cpu.h: the contract of exercise 103. The conventions are in cpu.h.
 */
#ifndef COURSE_MATMUL_CPU_H
#define COURSE_MATMUL_CPU_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** c[m x n] = a[m x k] * b[k x n], as a triple loop. k = 0 gives zeros. */
void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k);

#ifdef __cplusplus
}
#endif

#endif
