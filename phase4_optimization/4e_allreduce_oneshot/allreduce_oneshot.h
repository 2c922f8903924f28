/*
 * allreduce_oneshot.h: the contract of exercise 4e. The conventions are in optimization.h.
 */
#ifndef COURSE_ALLREDUCE_ONESHOT_H
#define COURSE_ALLREDUCE_ONESHOT_H

#include "415_allreduce_ring/allreduce_ring.h" /* allreduce_op */

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONESHOT_GPUS   8         /**< most GPUs */
#define ONESHOT_FLOATS (1 << 16) /**< most floats in each GPU's array: 256 KiB */

/** The resources of several GPUs for small sums: created once, used by many calls. */
typedef struct oneshot oneshot;

/**
 * Prepare GPUs 0 .. gpus - 1: each may write to the memory of all others, and has room for what
 * they send.
 *
 * Peer access that is already enabled is no error. The current device does not change. Waits until
 * everything is prepared.
 *
 * @param o    receives what oneshot_close frees; NULL after an error
 * @param gpus at least 1
 * @return cudaErrorInvalidValue: not from 1 to ONESHOT_GPUS; cudaErrorInvalidDevice: there are
 *         fewer GPUs; cudaErrorPeerAccessUnsupported: two cannot reach each other's memory;
 *         cudaErrorMemoryAllocation; other CUDA errors
 */
cudaError_t oneshot_open(oneshot **o, int gpus);

/**
 * Sum an array of each GPU, element by element: afterwards every GPU has the sum, or the mean.
 * Element i is bit for bit the same on all of them.
 *
 * One launch per GPU, and no event: the kernels wait for each other. The host waits for nothing and
 * allocates nothing. The work of GPU g comes after all earlier work in streams[g]. Later work in
 * streams[g] comes after all accesses to buffers[g], by any GPU. The current device stays the same.
 *
 * @param o       as oneshot_open made it; after an error only oneshot_close may take it
 * @param buffers [gpus], host: buffers[g] is on GPU g, [n], read and overwritten
 * @param n       of each buffer; with 0 nothing is launched
 * @param op      the result: sum or mean
 * @param streams [gpus], host: streams[g] is of GPU g, the same in each call
 * @return cudaErrorInvalidValue: more than ONESHOT_FLOATS, and nothing was done; other CUDA errors,
 *         after which some GPUs may wait for ever for those that were not launched
 */
cudaError_t allreduce_oneshot(oneshot *o, float *const *buffers, size_t n, allreduce_op op,
                              const cudaStream_t *streams);

/**
 * The part of one GPU in such a sum. The sum ends when all parts have been called, with the same n
 * and op, in any order. Each GPU takes part in one sum after the other; the calls for another GPU
 * may already be further ahead.
 *
 * @param gpu    0 .. gpus - 1; else cudaErrorInvalidValue
 * @param buffer [n], on this GPU
 * @param stream of this GPU, the same in each call
 */
cudaError_t allreduce_oneshot_part(oneshot *o, int gpu, float *buffer, size_t n, allreduce_op op,
                                   cudaStream_t stream);

/**
 * Free what oneshot_open created. Peer access stays: it belongs to the program, not to this sum.
 * The current device does not change.
 *
 * @param o its sums are over; NULL is legal
 */
cudaError_t oneshot_close(oneshot *o);

#ifdef __cplusplus
}
#endif

#endif
