/*
 * matmul_cpu_ikj.h: the contract of exercise 104. The conventions are in cpu.h.
 */
#ifndef COURSE_MATMUL_CPU_IKJ_H
#define COURSE_MATMUL_CPU_IKJ_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As matmul_cpu, with the loops in the order i, k, j: the inner loop runs along rows. */
void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k);

#ifdef __cplusplus
}
#endif

#endif
