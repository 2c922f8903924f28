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

#define ONESHOT_GPUS   8         /**< GPUs at most */
#define ONESHOT_FLOATS (1 << 16) /**< of each GPU's array at most: 256 KiB */

/** What several GPUs need for small sums: made once, used by many calls. */
typedef struct oneshot oneshot;

/**
 * Prepare GPUs 0 .. gpus - 1: each may write to the memory of all others, and has room for what
 * they send.
 *
 * Peer access that somebody has enabled before is no error. The current device stays the current
 * one. Waits until all is prepared.
 *
 * @param o    receives what oneshot_close frees; NULL after an error
 * @param gpus at least 1
 * @return cudaErrorInvalidValue: not from 1 to ONESHOT_GPUS; cudaErrorInvalidDevice: so many are
 *         not there; cudaErrorPeerAccessUnsupported: two cannot reach each other's memory;
 *         cudaErrorMemoryAllocation; what CUDA says
 */
cudaError_t oneshot_open(oneshot **o, int gpus);

/**
 * Sum an array of each GPU, element by element: afterwards every GPU has the sum, or the mean.
 * Element i is bit for bit the same on all of them.
 *
 * One launch a GPU, and no event: the kernels wait for each other. The host waits for nothing and
 * allocates nothing. The work of GPU g comes after all that was in streams[g] before. What is put
 * into streams[g] afterwards comes after all that touches buffers[g], on whatever GPU. The current
 * device stays the current one.
 *
 * @param o       as oneshot_open made it; after an error it is only good for oneshot_close
 * @param buffers [gpus], host: buffers[g] is of GPU g, [n], read and overwritten
 * @param n       of each buffer; with 0 nothing is launched
 * @param op      what comes of the sum
 * @param streams [gpus], host: streams[g] is of GPU g, the same in each call
 * @return cudaErrorInvalidValue: more than ONESHOT_FLOATS, and nothing was done; what CUDA says.
 *         Then some GPUs may wait for ever for those that were not launched
 */
cudaError_t allreduce_oneshot(oneshot *o, float *const *buffers, size_t n, allreduce_op op,
                              const cudaStream_t *streams);

/**
 * The part of one GPU in such a sum. The sum ends when all parts have been asked for, with the same
 * n and op, in whatever order. Each GPU takes part in one sum after the other; another one may have
 * been asked for more of them already.
 *
 * @param gpu    0 .. gpus - 1; else cudaErrorInvalidValue
 * @param buffer [n], of this GPU
 * @param stream of this GPU, the same in each call
 */
cudaError_t allreduce_oneshot_part(oneshot *o, int gpu, float *buffer, size_t n, allreduce_op op,
                                   cudaStream_t stream);

/**
 * Free what oneshot_open made. Peer access stays: it is the program's, not this sum's. The current
 * device stays the current one.
 *
 * @param o its sums are over; NULL is legal
 */
cudaError_t oneshot_close(oneshot *o);

#ifdef __cplusplus
}
#endif

#endif
