/*
 * matmul_cpu_threads.h: the contract of exercise 107. The conventions are in cpu.h.
 */
#ifndef COURSE_MATMUL_CPU_THREADS_H
#define COURSE_MATMUL_CPU_THREADS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As matmul_cpu, by up to `threads` threads, including the caller's.
 * @param threads any number; below 1 it counts as 1. A thread that cannot be started is no error:
 *        the others compute its part. All started threads have ended when the call returns.
 */
void matmul_cpu_threads(float *c, const float *a, const float *b, int m, int n, int k, int threads);

#ifdef __cplusplus
}
#endif

#endif
