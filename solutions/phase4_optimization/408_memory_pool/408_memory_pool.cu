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
 *               that frees it, says when they are done; the stream that gets the block waits for
 *               it, and the host waits for nothing.
 *
 *     stream A   kernel on x ── free x ● event
 *                                       ╲
 *     stream B            alloc ─────────► wait ── kernel on x
 *
 * Each block is an allocation of its own. So any free block can go back to the device where the
 * limit, or the device, has no room for another size, and free memory is never fragmented.
 *
 * The cost removed: a call of the driver for each tensor, and a device that idles at each free. The
 * cost left: up to a fifth of a block is rounding, and a class's free blocks serve no other class.
 * An allocator that cuts large blocks and joins neighbours again wastes less, but suffers from
 * fragmentation.
 */
#include "408_memory_pool/memory_pool.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include <stdint.h>
#include <stdlib.h>

/* ---- blocks, classes, the table -------------------------------------------------------------- */

#define ALIGNMENT 256
#define STEPS     4 /* classes for each power of two */
#define CLASSES   (STEPS * 62)
#define BUCKETS   (1 << BITS)
#define BITS      12

typedef struct block {
    void *memory;
    size_t bytes, asked; /* of its class; as requested, 0 while it is free */
    int size_class;
    cudaStream_t stream; /* that freed it last: what is free comes after `freed` */
    cudaEvent_t freed;
    struct block *next_free, *next; /* in its class, in its bucket */
} block;

struct pool {
    size_t limit;
    pool_statistics now;
    block *free_blocks[CLASSES]; /* the last freed comes first */
    block *buckets[BUCKETS];     /* all blocks, by their address */
};

/** The first class of at least so many bytes; at most SIZE_MAX / 4 of them. */
static int class_of(size_t bytes)
{
    /* SOLUTION: the inverse of class_bytes, rounding up (about 4 lines). */
    const size_t parts = ((bytes - 1) / ALIGNMENT + 1) * STEPS; /* of 64 bytes */
    int doubled = 0;
    while ((parts - 1) >> doubled >= 2 * STEPS - 1) doubled++;
    return STEPS * doubled + (int)((parts - 1) >> doubled) + 1 - STEPS;
    /* END SOLUTION */
}

/** How large its blocks are: 4, 5, 6, 7 times 64 bytes, then twice as much, and so on. */
static size_t class_bytes(int size_class)
{
    const size_t parts = (size_t)(STEPS + size_class % STEPS) << size_class / STEPS;
    return parts * (ALIGNMENT / STEPS);
}

/** Where the block of this address is linked in; NULL stands there if there is none. */
static block **find(pool *p, const void *memory)
{
    /* Large blocks lie at multiples of 2 MB, whose lower bits are always 0: a product's upper bits
       depend on all bits. */
    const uint64_t hash = (uint64_t)(uintptr_t)memory * 0x9e3779b97f4a7c15u;
    block **at = &p->buckets[hash >> (64 - BITS)];
    while (*at != NULL && (*at)->memory != memory) at = &(*at)->next;
    return at;
}

/* ---- memory of the device -------------------------------------------------------------------- */

/** A block of its own from the device, with its event, in the table and in `reserved`, in no list.
 *  After an error nothing is left of it, and cudaGetLastError reports nothing. */
static cudaError_t make(pool *p, int size_class, block **made)
{
    /* SOLUTION: allocate block, memory and event, or none of them; enter it (about 17 lines). */
    const size_t bytes = class_bytes(size_class);
    block *b = (block *)calloc(1, sizeof *b);
    if (b == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMalloc(&b->memory, bytes);
    if (error == cudaSuccess) {
        error = cudaEventCreateWithFlags(&b->freed, cudaEventDisableTiming);
        if (error != cudaSuccess) cudaFree(b->memory);
    }
    if (error != cudaSuccess) {
        cudaGetLastError(); /* it is reported, and is no error of later calls */
        free(b);
        return error;
    }
    b->bytes = bytes, b->size_class = size_class;
    *find(p, b->memory) = b;
    p->now.reserved += bytes;
    *made = b;
    /* END SOLUTION */
    return cudaSuccess;
}

/** A block that is in no list any more goes back to the device. @return the first error; the block
 *  is gone in any case */
static cudaError_t unmake(pool *p, block *b)
{
    /* SOLUTION: take it out of the table and of `reserved`, wait for those that still use it, and
       give back memory, event and block (about 7 lines). */
    block **at = find(p, b->memory);
    *at = b->next;
    p->now.reserved -= b->bytes;
    cudaError_t error = cudaEventSynchronize(b->freed);
    const cudaError_t freed = cudaFree(b->memory), destroyed = cudaEventDestroy(b->freed);
    free(b);
    return error != cudaSuccess ? error : freed != cudaSuccess ? freed : destroyed;
    /* END SOLUTION */
}

/** Free blocks go back, largest first, until no more than `most` bytes are reserved, or none is
 *  left. */
static cudaError_t shrink(pool *p, size_t most)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: unmake the first of a class's list, as often as it takes (about 7 lines). */
    for (int c = CLASSES - 1; c >= 0 && error == cudaSuccess; c--) {
        while (p->free_blocks[c] != NULL && p->now.reserved > most && error == cudaSuccess) {
            block *b = p->free_blocks[c];
            p->free_blocks[c] = b->next_free;
            error = unmake(p, b);
        }
    }
    /* END SOLUTION */
    return error;
}

/** A new block. Free blocks of other classes go back where the limit or the device has no room.
 *  @return cudaErrorMemoryAllocation where that is not enough */
static cudaError_t reserve(pool *p, int size_class, block **made)
{
    const size_t bytes = class_bytes(size_class);
    /* SOLUTION: make it within the limit; where the device is full, once more without any free
       block (about 7 lines). */
    if (bytes > p->limit) return cudaErrorMemoryAllocation;
    cudaError_t error = shrink(p, p->limit - bytes);
    if (error != cudaSuccess) return error;
    if (p->now.reserved > p->limit - bytes) return cudaErrorMemoryAllocation;
    error = make(p, size_class, made);
    if (error != cudaErrorMemoryAllocation) return error;
    error = shrink(p, 0); /* the device is full */
    return error == cudaSuccess ? make(p, size_class, made) : error;
    /* END SOLUTION */
}

/* ---- free blocks ----------------------------------------------------------------------------- */

/** A free block of the class, if there is one; the later work of `stream` comes after all that used
 *  it. Of several it takes one that this same stream freed, else the one that has been free
 *  longest. */
static cudaError_t reuse(pool *p, int size_class, cudaStream_t stream, block **taken)
{
    /* SOLUTION: walk along the list of the class, whose last entry was freed first; let the stream
       wait for the block's event; take the block out of the list (about 8 lines). */
    block **at = &p->free_blocks[size_class];
    if (*at == NULL) return cudaSuccess;
    while ((*at)->stream != stream && (*at)->next_free != NULL) at = &(*at)->next_free;
    const cudaError_t error = cudaStreamWaitEvent(stream, (*at)->freed, 0);
    if (error != cudaSuccess) return error;
    *taken = *at;
    *at = (*at)->next_free;
    /* END SOLUTION */
    return cudaSuccess;
}

/** The block is free, as the first of its class. */
static void put_back(pool *p, block *b, cudaStream_t stream)
{
    /* SOLUTION: what is known of it, in_use, and the list (about 5 lines). */
    p->now.in_use -= b->asked;
    b->asked = 0;
    b->stream = stream;
    b->next_free = p->free_blocks[b->size_class];
    p->free_blocks[b->size_class] = b;
    /* END SOLUTION */
}

/* ---- the contract ---------------------------------------------------------------------------- */

cudaError_t pool_create(pool **p, size_t reserve_limit)
{
    *p = (pool *)calloc(1, sizeof **p);
    if (*p == NULL) return cudaErrorMemoryAllocation;
    (*p)->limit = reserve_limit;
    return cudaSuccess;
}

cudaError_t pool_alloc(pool *p, void **ptr, size_t bytes, cudaStream_t stream)
{
    /* SOLUTION: NULL for 0 bytes, and on an error; a free block of the class, which is a hit, else
       a new one; statistics (about 16 lines). */
    *ptr = NULL;
    if (bytes == 0) return cudaSuccess;
    if (bytes > p->limit || bytes > SIZE_MAX / 4) return cudaErrorMemoryAllocation;
    const int size_class = class_of(bytes);
    block *b = NULL;
    cudaError_t error = reuse(p, size_class, stream, &b);
    if (b != NULL)
        p->now.hits++;
    else if (error == cudaSuccess)
        error = reserve(p, size_class, &b);
    if (error != cudaSuccess) return error;
    b->asked = bytes;
    p->now.allocations++;
    p->now.in_use += bytes;
    if (p->now.in_use > p->now.peak) p->now.peak = p->now.in_use;
    *ptr = b->memory;
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t pool_free(pool *p, void *ptr, cudaStream_t stream)
{
    /* SOLUTION: find the block, which must be out; record its event in the stream; put it back
       (about 6 lines). */
    if (ptr == NULL) return cudaSuccess;
    block *b = *find(p, ptr);
    if (b == NULL || b->asked == 0) return cudaErrorInvalidValue;
    const cudaError_t error = cudaEventRecord(b->freed, stream);
    if (error != cudaSuccess) return error;
    put_back(p, b, stream);
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t pool_reset(pool *p)
{
    /* SOLUTION: wait for the device; then put back all blocks of the table that are out (about 6
       lines). */
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return error;
    for (int i = 0; i < BUCKETS; i++) {
        for (block *b = p->buckets[i]; b != NULL; b = b->next)
            if (b->asked > 0) put_back(p, b, b->stream);
    }
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t pool_stats(const pool *p, pool_statistics *statistics)
{
    *statistics = p->now;
    return cudaSuccess;
}

cudaError_t pool_destroy(pool *p)
{
    /* SOLUTION: nothing for NULL; else all blocks are free: give them back; free the pool (about 5
       lines). */
    if (p == NULL) return cudaSuccess;
    cudaError_t error = pool_reset(p);
    if (error == cudaSuccess) error = shrink(p, 0);
    free(p);
    if (error != cudaSuccess) return error;
    /* END SOLUTION */
    return cudaSuccess;
}
