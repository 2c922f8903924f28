/*
 * histogram.h: the contract of exercise 217. The conventions are in basics.h.
 */
#ifndef COURSE_HISTOGRAM_H
#define COURSE_HISTOGRAM_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** counts[v] = how many of values[0 .. n-1] are v, for v in 0 .. bins-1; other values are not
 *  counted. bins >= 0. */
cudaError_t histogram(int *counts, const int *values, size_t n, int bins, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
