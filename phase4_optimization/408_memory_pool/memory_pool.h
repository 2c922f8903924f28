/*
 * memory_pool.h: the contract of exercise 408. The conventions are in optimization.h.
 *
 * Memory of the device, kept when it is freed and handed out again: what a library of tensors
 * allocates with. The pool belongs to the device that is current when it is made, which is current
 * in its other calls, too; one thread calls it at a time. None of the calls waits for the device
 * but pool_reset and pool_destroy, and pool_alloc where memory must go back to the device first.
 *
 * Sizes are rounded up to classes, to at most 1.25 * (bytes + 255). As long as what is in use,
 * rounded so, is within the limit, the pool never runs out, whatever sizes came before.
 */
#ifndef COURSE_MEMORY_POOL_H
#define COURSE_MEMORY_POOL_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pool pool;

typedef struct pool_statistics {
    size_t in_use;   /**< bytes that were asked for, of the blocks that are out */
    size_t peak;     /**< the most that in_use has been */
    size_t reserved; /**< bytes of the device that the pool has: of blocks that are out or free */
    size_t allocations; /**< blocks handed out so far */
    size_t hits;        /**< of them, without memory from the device */
} pool_statistics;

/**
 * @param p             receives the pool, or NULL on an error
 * @param reserve_limit the most that `reserved` may be; SIZE_MAX: what the device has
 */
cudaError_t pool_create(pool **p, size_t reserve_limit);
/**
 * What the stream does from now on may use the block: it comes after all that used it before,
 * whichever stream that was. The host may not touch it.
 * @param ptr    receives a multiple of 256; NULL of 0 bytes, and on an error
 * @param stream the first to use the block
 * @return cudaErrorMemoryAllocation beyond the limit or what the device has: blocks that are out
 *         stay, cudaGetLastError knows nothing of it, and what there is room for can still be had
 */
cudaError_t pool_alloc(pool *p, void **ptr, size_t bytes, cudaStream_t stream);
/**
 * The block may be handed out at once, to come after what `stream` has been asked for so far: who
 * used it in other streams has made this one wait for them. The stream may be destroyed then.
 * @param ptr NULL is allowed; what is free already, or is not the beginning of a block that
 *            pool_alloc returned, is cudaErrorInvalidValue, and nothing is changed
 */
cudaError_t pool_free(pool *p, void *ptr, cudaStream_t stream);
/** All blocks are free. Waits for the device; the pool keeps its memory, and counts on. */
cudaError_t pool_reset(pool *p);
cudaError_t pool_stats(const pool *p, pool_statistics *statistics);
/** Waits for the device, and gives back all memory, of blocks that are out, too. NULL is allowed.
 */
cudaError_t pool_destroy(pool *p);

#ifdef __cplusplus
}
#endif

#endif
