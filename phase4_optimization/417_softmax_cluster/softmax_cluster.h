/*
 * softmax_cluster.h: the contract of exercise 417. The conventions are in optimization.h.
 */
#ifndef COURSE_SOFTMAX_CLUSTER_H
#define COURSE_SOFTMAX_CLUSTER_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As softmax_rows (405): y[r] = softmax of row r of x, both [rows x cols]; an entry of -infinity
 * has weight 0, a row of nothing else gives zeros, a NaN makes all of its row NaN. y and x do not
 * overlap. One launch; it allocates nothing.
 *
 * A row of more than 1,024 columns is shared by the blocks of a cluster, where the device has
 * clusters and the row fits into their shared memory: x is read once, y written once. All else goes
 * to softmax_rows.
 */
cudaError_t softmax_cluster(float *y, const float *x, int rows, int cols, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
