/*
 * dropout.h: dropout behind attention. dropout.c does it for 508, fast/dropout.cu for 510.
 */
#ifndef GPT_DROPOUT_H
#define GPT_DROPOUT_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** From now on attention drops this share, from this step on, until dropout_end. */
void dropout_begin(float p, unsigned long long seed, int step);
/** @return false: nothing could be dropped, and it has been said why */
bool dropout_end(void);
/** @return the share; 0: nothing is to be done */
float dropout_share(void);
/** x [n], what attention of the next layer leaves, in place. */
cudaError_t dropout_there(float *x, size_t n, cudaStream_t stream);
/** grad_x [n] of the last layer that was not yet gone back through; it may be grad_y. */
cudaError_t dropout_back(float *grad_x, const float *grad_y, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
