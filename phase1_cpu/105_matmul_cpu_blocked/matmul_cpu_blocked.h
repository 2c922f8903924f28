/*
 * matmul_cpu_blocked.h: the contract of exercise 105. The conventions are in cpu.h.
 */
#ifndef COURSE_MATMUL_CPU_BLOCKED_H
#define COURSE_MATMUL_CPU_BLOCKED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As matmul_cpu, block by block, so that the block of b in use stays in the cache. */
void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k);

#ifdef __cplusplus
}
#endif

#endif
