/*
 * memory_pool.h: the contract of exercise 408. The conventions are in optimization.h.
 *
 * A tensor library allocates from such a pool: it keeps freed device memory and hands it out again.
 * The pool belongs to the device that is current when it is created; the same device is current in
 * all other calls. One thread calls it at a time. Only pool_reset and pool_destroy wait for the
 * device, and pool_alloc if memory must first go back to the device.
 *
 * Sizes are rounded up to classes, to at most 1.25 * (bytes + 255). As long as the blocks in use,
 * rounded in this way, are within the limit, the pool never runs out, whatever sizes came before.
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
    size_t in_use;      /**< requested bytes of the blocks that are out */
    size_t peak;        /**< maximum of in_use so far */
    size_t reserved;    /**< device bytes that the pool has, in blocks that are out or free */
    size_t allocations; /**< blocks handed out so far */
    size_t hits;        /**< of these, blocks that took no memory from the device */
} pool_statistics;

/**
 * @param p             receives the pool, or NULL on an error
 * @param reserve_limit the most that `reserved` may be; SIZE_MAX: all that the device has
 */
cudaError_t pool_create(pool **p, size_t reserve_limit);
/**
 * Work that is put into the stream from now on may use the block: it runs after all earlier uses of
 * the block, in whichever stream. The host may not touch the block.
 * @param ptr    receives a multiple of 256; NULL for 0 bytes and on an error
 * @param stream the first to use the block
 * @return cudaErrorMemoryAllocation beyond the limit or the device's memory: blocks that are out
 *         stay, cudaGetLastError returns no error, and requests that fit still succeed
 */
cudaError_t pool_alloc(pool *p, void **ptr, size_t bytes, cudaStream_t stream);
/**
 * The block may be handed out again at once; its next use comes after the work so far in `stream`,
 * which already waits for all other streams that used it. Then `stream` may be destroyed.
 * @param ptr NULL is allowed; a block that is already free, or a pointer that pool_alloc did not
 *            return, is cudaErrorInvalidValue, and nothing is changed
 */
cudaError_t pool_free(pool *p, void *ptr, cudaStream_t stream);
/** Frees all blocks. Waits for the device. The pool keeps its memory and goes on counting. */
cudaError_t pool_reset(pool *p);
cudaError_t pool_stats(const pool *p, pool_statistics *statistics);
/** Waits for the device, and frees all memory, also of blocks that are out. NULL is allowed. */
cudaError_t pool_destroy(pool *p);

#ifdef __cplusplus
}
#endif

#endif
