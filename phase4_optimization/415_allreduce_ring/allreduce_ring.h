/*
 * allreduce_ring.h: the contract of exercise 415. The conventions are in optimization.h.
 */
#ifndef COURSE_ALLREDUCE_RING_H
#define COURSE_ALLREDUCE_RING_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What several GPUs need for their sums: made once, used by many calls. */
typedef struct allreduce allreduce;

typedef enum allreduce_op { ALLREDUCE_SUM, ALLREDUCE_MEAN } allreduce_op;

/**
 * Prepare GPUs 0 .. gpus - 1: each may read the memory of the one before it (GPU 0 that of the last
 * one), and whatever a sum needs besides is made here.
 *
 * Peer access that somebody has enabled before is no error. The current device stays the current
 * one.
 *
 * @param a    receives what allreduce_close frees; NULL after an error
 * @param gpus at least 1
 * @return cudaErrorInvalidValue: fewer than 1; cudaErrorInvalidDevice: so many are not there;
 *         cudaErrorPeerAccessUnsupported: two neighbours cannot reach each other's memory;
 *         cudaErrorMemoryAllocation; what CUDA says
 */
cudaError_t allreduce_open(allreduce **a, int gpus);

/**
 * Sum an array of each GPU, element by element: afterwards every GPU has the sum, or the mean.
 * Element i is bit for bit the same on all of them.
 *
 * The host waits for nothing and allocates nothing. The work of GPU g comes after all that was in
 * streams[g] before. What is put into streams[g] afterwards comes after all that touches
 * buffers[g], on whatever GPU. The current device stays the current one.
 *
 * @param a       as allreduce_open made it
 * @param buffers [gpus], host: buffers[g] is of GPU g, [n], read and overwritten
 * @param n       of each buffer; 0, fewer than GPUs, and n % gpus != 0 are legal
 * @param op      what comes of the sum
 * @param streams [gpus], host: streams[g] is of GPU g, and not the legacy one
 * @return what CUDA says; after an error the buffers hold anything
 */
cudaError_t allreduce_ring(const allreduce *a, float *const *buffers, size_t n, allreduce_op op,
                           const cudaStream_t *streams);

/**
 * Free what allreduce_open made. Peer access stays: it is the program's, not this sum's.
 *
 * @param a its calls are over; NULL is legal
 */
cudaError_t allreduce_close(allreduce *a);

#ifdef __cplusplus
}
#endif

#endif
