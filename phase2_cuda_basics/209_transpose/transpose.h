/*
 * transpose.h: the contract of exercise 209. The conventions are in basics.h.
 */
#ifndef COURSE_TRANSPOSE_H
#define COURSE_TRANSPOSE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** out[cols x rows] = the transpose of in[rows x cols]: out[j * rows + i] = in[i * cols + j].
 *  They do not overlap. */
cudaError_t transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
