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

/** The resources of several GPUs for their sums: created once, used by many calls. */
typedef struct allreduce allreduce;

typedef enum allreduce_op { ALLREDUCE_SUM, ALLREDUCE_MEAN } allreduce_op;

/**
 * Prepare GPUs 0 .. gpus - 1: each may read the memory of the one before it (GPU 0 that of the last
 * one). Everything else that a sum needs is created here, too.
 *
 * Peer access that is already enabled is no error. The current device does not change.
 *
 * @param a    receives what allreduce_close frees; NULL after an error
 * @param gpus at least 1
 * @return cudaErrorInvalidValue: fewer than 1; cudaErrorInvalidDevice: there are fewer GPUs;
 *         cudaErrorPeerAccessUnsupported: two neighbours cannot reach each other's memory;
 *         cudaErrorMemoryAllocation; other CUDA errors
 */
cudaError_t allreduce_open(allreduce **a, int gpus);

/**
 * Sum an array of each GPU, element by element: afterwards every GPU has the sum, or the mean.
 * Element i is bit for bit the same on all of them.
 *
 * The host waits for nothing and allocates nothing. The work of GPU g comes after all earlier work
 * in streams[g]. Later work in streams[g] comes after all accesses to buffers[g], by any GPU. The
 * current device does not change.
 *
 * @param a       as allreduce_open made it
 * @param buffers [gpus], host: buffers[g] is on GPU g, [n], read and overwritten
 * @param n       of each buffer; 0, fewer than GPUs, and n % gpus != 0 are legal
 * @param op      the result: sum or mean
 * @param streams [gpus], host: streams[g] is of GPU g, and not the legacy one
 * @return CUDA errors; after an error the buffers may hold anything
 */
cudaError_t allreduce_ring(const allreduce *a, float *const *buffers, size_t n, allreduce_op op,
                           const cudaStream_t *streams);

/**
 * Free what allreduce_open created. Peer access stays: it belongs to the program, not to this sum.
 *
 * @param a its calls are over; NULL is legal
 */
cudaError_t allreduce_close(allreduce *a);

#ifdef __cplusplus
}
#endif

#endif
