/*
 * matmul_cpu_vectorized.h: the contract of exercise 106. The conventions are in cpu.h.
 */
#ifndef COURSE_MATMUL_CPU_VECTORIZED_H
#define COURSE_MATMUL_CPU_VECTORIZED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As matmul_cpu, with a tile of c held in vector registers. */
void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k);

#ifdef __cplusplus
}
#endif

#endif
