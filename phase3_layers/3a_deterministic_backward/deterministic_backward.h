/*
 * deterministic_backward.h: the contract of exercise 3a. The conventions are in layers.h.
 */
#ifndef COURSE_DETERMINISTIC_BACKWARD_H
#define COURSE_DETERMINISTIC_BACKWARD_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As embedding_backward (312), but grad_table, too, has the same bits every time. batch * seq and
 *  seq * dim are below 2^31. */
cudaError_t embedding_backward_deterministic(float *grad_table, float *grad_positions,
                                             const float *grad_y, const int *tokens, int batch,
                                             int seq, int dim, int vocab, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
