/*
 * 408_memory_pool.cu: memory of the device that is kept when it is freed, and handed out again.
 *
 * The idea: cudaMalloc and cudaFree are calls of the driver, and cudaFree waits for the whole
 * device. A training step asks for the same sizes again and again. So a free block stays with the
 * pool, in a list of its size class, and the next request of that class takes it.
 *
 *     classes   four for each power of two: 4, 5, 6, 7, 8, 10, 12, 14, 16, ... times 64 bytes
 *     blocks    known by their address in a table on the host: the device's memory cannot be
 *               written to from here, so no block has a header
 *     order     the host frees a block while kernels still use it. An event, recorded in the stream
 *               that frees it, says when they are through; the stream that gets it waits for that,
 *               and the host for nothing.
 *
 *     stream A   kernel on x ── free x ● event
 *                                       ╲
 *     stream B            alloc ─────────► wait ── kernel on x
 *
 * Each block is an allocation of its own. So any free block can go back to the device where the
 * limit, or the device, has no room for another size, and free memory never lies in pieces.
 *
 * The cost removed: a call of the driver for each tensor, and a device that stands still at each
 * free. The cost left: up to a fifth of a block is rounding, and a class's free blocks serve no
 * other class. An allocator that cuts large blocks and joins neighbours again wastes less, and has
 * fragmentation for it.
 */
#include "408_memory_pool/memory_pool.h"
#include "not_implemented.h"
#include <stdint.h>
#include <stdlib.h>

/* TODO: a block, the pool, and the class of a size (about 40 lines). */

/* TODO: a block from the device, and back to it; free blocks go back, largest first, until the
   pool holds no more than so much (about 60 lines). */

/* TODO: a free block of a class: one that this stream freed comes after its work anyway, else
   the one that has been free for longest; the stream waits for its event (about 20 lines). */

cudaError_t pool_create(pool **p, size_t reserve_limit)
{
    /* TODO: an empty pool (about 3 lines). */
    NOT_IMPLEMENTED(p, reserve_limit);
    return cudaSuccess;
}

cudaError_t pool_alloc(pool *p, void **ptr, size_t bytes, cudaStream_t stream)
{
    /* TODO: a free block of the class, else a new one; statistics (about 15 lines). */
    NOT_IMPLEMENTED(p, ptr, bytes, stream);
    return cudaSuccess;
}

cudaError_t pool_free(pool *p, void *ptr, cudaStream_t stream)
{
    /* TODO: is it a block that is out? Then its event is recorded (about 6 lines). */
    NOT_IMPLEMENTED(p, ptr, stream);
    return cudaSuccess;
}

cudaError_t pool_reset(pool *p)
{
    /* TODO: when the device has nothing to do, nobody uses a block (about 7 lines). */
    NOT_IMPLEMENTED(p);
    return cudaSuccess;
}

cudaError_t pool_stats(const pool *p, pool_statistics *statistics)
{
    /* TODO: as they are (1 line). */
    NOT_IMPLEMENTED(p, statistics);
    return cudaSuccess;
}

cudaError_t pool_destroy(pool *p)
{
    /* TODO: all blocks are free, and go back (about 5 lines). */
    NOT_IMPLEMENTED(p);
    return cudaSuccess;
}
