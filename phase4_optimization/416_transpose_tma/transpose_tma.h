/*
 * transpose_tma.h: the contract of exercise 416. The conventions are in optimization.h.
 */
#ifndef COURSE_TRANSPOSE_TMA_H
#define COURSE_TRANSPOSE_TMA_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As transpose (209): out[cols x rows] = the transpose of in[rows x cols]. It uses the TMA if the
 * device has compute capability 9.0, cols is a multiple of 4 and in is aligned to 16 bytes;
 * otherwise it is right but slower.
 */
cudaError_t transpose_tma(float *out, const float *in, int rows, int cols, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
