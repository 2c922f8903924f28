/*
 * vector_add.h: the contract of exercise 203. The conventions are in basics.h.
 */
#ifndef COURSE_VECTOR_ADD_H
#define COURSE_VECTOR_ADD_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** c[i] = a[i] + b[i] for i < n. c may be a or b. n may exceed 2^31. */
cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
