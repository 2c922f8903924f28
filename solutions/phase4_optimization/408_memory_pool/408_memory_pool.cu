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

/* SOLUTION: a block, the pool, and the class of a size (about 40 lines). */
#define ALIGNMENT 256
#define STEPS     4 /* classes for each power of two */
#define CLASSES   (STEPS * 62)
#define BUCKETS   (1 << BITS)
#define BITS      12

typedef struct block {
    void *memory;
    size_t bytes, asked; /* of its class; that the caller wanted, 0 while it is free */
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
    const size_t parts = ((bytes - 1) / ALIGNMENT + 1) * STEPS; /* of 64 bytes */
    int doubled = 0;
    while ((parts - 1) >> doubled >= 2 * STEPS - 1) doubled++;
    return STEPS * doubled + (int)((parts - 1) >> doubled) + 1 - STEPS;
}

static size_t class_bytes(int size_class)
{
    const size_t parts = (size_t)(STEPS + size_class % STEPS) << size_class / STEPS;
    return parts * (ALIGNMENT / STEPS);
}

/** Where the block of this address is linked in; NULL stands there if there is none. */
static block **find(pool *p, const void *memory)
{
    /* Large blocks lie at multiples of 2 MB, whose lower bits say nothing: a product's upper bits
       depend on all of them. */
    const uint64_t hash = (uint64_t)(uintptr_t)memory * 0x9e3779b97f4a7c15u;
    block **at = &p->buckets[hash >> (64 - BITS)];
    while (*at != NULL && (*at)->memory != memory) at = &(*at)->next;
    return at;
}
/* END SOLUTION */

/* SOLUTION: a block from the device, and back to it; free blocks go back, largest first, until the
   pool holds no more than so much (about 60 lines). */
static cudaError_t make(pool *p, int size_class, block **made)
{
    const size_t bytes = class_bytes(size_class);
    block *b = (block *)calloc(1, sizeof *b);
    if (b == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMalloc(&b->memory, bytes);
    if (error == cudaSuccess) {
        error = cudaEventCreateWithFlags(&b->freed, cudaEventDisableTiming);
        if (error != cudaSuccess) cudaFree(b->memory);
    }
    if (error != cudaSuccess) {
        cudaGetLastError(); /* it was told, and is no error of later calls */
        free(b);
        return error;
    }
    b->bytes = bytes, b->size_class = size_class;
    *find(p, b->memory) = b;
    p->now.reserved += bytes;
    *made = b;
    return cudaSuccess;
}

static cudaError_t unmake(pool *p, block *b)
{
    block **at = find(p, b->memory);
    *at = b->next;
    p->now.reserved -= b->bytes;
    cudaError_t error = cudaEventSynchronize(b->freed);
    const cudaError_t freed = cudaFree(b->memory), destroyed = cudaEventDestroy(b->freed);
    free(b);
    return error != cudaSuccess ? error : freed != cudaSuccess ? freed : destroyed;
}

static cudaError_t shrink(pool *p, size_t most)
{
    cudaError_t error = cudaSuccess;
    for (int c = CLASSES - 1; c >= 0 && error == cudaSuccess; c--) {
        while (p->free_blocks[c] != NULL && p->now.reserved > most && error == cudaSuccess) {
            block *b = p->free_blocks[c];
            p->free_blocks[c] = b->next_free;
            error = unmake(p, b);
        }
    }
    return error;
}

/** A new block. Free ones of other classes go, where there is no room else. */
static cudaError_t reserve(pool *p, int size_class, block **made)
{
    const size_t bytes = class_bytes(size_class);
    if (bytes > p->limit) return cudaErrorMemoryAllocation;
    cudaError_t error = shrink(p, p->limit - bytes);
    if (error != cudaSuccess) return error;
    if (p->now.reserved > p->limit - bytes) return cudaErrorMemoryAllocation;
    error = make(p, size_class, made);
    if (error != cudaErrorMemoryAllocation) return error;
    error = shrink(p, 0); /* the device is full */
    return error == cudaSuccess ? make(p, size_class, made) : error;
}
/* END SOLUTION */

/* SOLUTION: a free block of a class: one that this stream freed comes after its work anyway, else
   the one that has been free for longest; the stream waits for its event (about 20 lines). */
static cudaError_t reuse(pool *p, int size_class, cudaStream_t stream, block **taken)
{
    block **at = &p->free_blocks[size_class];
    if (*at == NULL) return cudaSuccess;
    while ((*at)->stream != stream && (*at)->next_free != NULL) at = &(*at)->next_free;
    const cudaError_t error = cudaStreamWaitEvent(stream, (*at)->freed, 0);
    if (error != cudaSuccess) return error;
    *taken = *at;
    *at = (*at)->next_free;
    return cudaSuccess;
}

static void put_back(pool *p, block *b, cudaStream_t stream)
{
    p->now.in_use -= b->asked;
    b->asked = 0;
    b->stream = stream;
    b->next_free = p->free_blocks[b->size_class];
    p->free_blocks[b->size_class] = b;
}
/* END SOLUTION */

cudaError_t pool_create(pool **p, size_t reserve_limit)
{
    /* SOLUTION: an empty pool (about 3 lines). */
    *p = (pool *)calloc(1, sizeof **p);
    if (*p == NULL) return cudaErrorMemoryAllocation;
    (*p)->limit = reserve_limit;
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t pool_alloc(pool *p, void **ptr, size_t bytes, cudaStream_t stream)
{
    /* SOLUTION: a free block of the class, else a new one; statistics (about 15 lines). */
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
    /* SOLUTION: is it a block that is out? Then its event is recorded (about 6 lines). */
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
    /* SOLUTION: when the device has nothing to do, nobody uses a block (about 7 lines). */
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
    /* SOLUTION: as they are (1 line). */
    *statistics = p->now;
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t pool_destroy(pool *p)
{
    /* SOLUTION: all blocks are free, and go back (about 5 lines). */
    if (p == NULL) return cudaSuccess;
    cudaError_t error = pool_reset(p);
    if (error == cudaSuccess) error = shrink(p, 0);
    free(p);
    if (error != cudaSuccess) return error;
    /* END SOLUTION */
    return cudaSuccess;
}
