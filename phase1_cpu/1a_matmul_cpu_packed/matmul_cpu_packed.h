/*
 * matmul_cpu_packed.h: the contract of exercise 1a. The conventions are in cpu.h.
 */
#ifndef COURSE_MATMUL_CPU_PACKED_H
#define COURSE_MATMUL_CPU_PACKED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As matmul_cpu_threads, with both matrices packed into blocks for the caches: as fast as a
 *  library, with one thread and with many. */
void matmul_cpu_packed(float *c, const float *a, const float *b, int m, int n, int k, int threads);

#ifdef __cplusplus
}
#endif

#endif
