// RIGHT: one array of blocks, sizes rounded to 256 bytes alone; the smallest that is not a quarter
// too large
#include "408_memory_pool/memory_pool.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *at;
    size_t size, wanted; /* wanted: 0 while it is free */
    cudaEvent_t through;
};

struct pool {
    struct entry *entries;
    size_t count, room, limit;
    pool_statistics said;
};

static struct entry *entry_at(struct pool *p, const void *at)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->entries[i].at == at) return &p->entries[i];
    return NULL;
}

static struct entry *best_fit(struct pool *p, size_t size)
{
    struct entry *best = NULL;
    for (struct entry *e = p->entries; e < p->entries + p->count; e++) {
        if (e->wanted > 0 || e->size < size || e->size - size > size / 4) continue;
        if (best == NULL || e->size < best->size) best = e;
    }
    return best;
}

/* Free entries go, until so much more fits; the last entry takes the place of one that goes. */
static void make_room(struct pool *p, size_t size)
{
    size_t i = 0;
    while (i < p->count && (size > p->limit || p->said.reserved > p->limit - size)) {
        struct entry *e = &p->entries[i];
        if (e->wanted > 0) {
            i++;
            continue;
        }
        cudaEventSynchronize(e->through);
        cudaEventDestroy(e->through);
        cudaFree(e->at);
        p->said.reserved -= e->size;
        *e = p->entries[--p->count];
    }
}

static cudaError_t new_entry(struct pool *p, size_t size)
{
    struct entry e = {NULL, size, 0, NULL};
    if (p->count == p->room) {
        size_t room = 2 * p->room + 64;
        void *moved = realloc(p->entries, room * sizeof *p->entries);
        if (moved == NULL) return cudaErrorMemoryAllocation;
        p->entries = (struct entry *)moved;
        p->room = room;
    }
    cudaError_t error = cudaMalloc((void **)&e.at, size);
    if (error == cudaSuccess) {
        error = cudaEventCreateWithFlags(&e.through, cudaEventDisableTiming);
        if (error != cudaSuccess) cudaFree(e.at);
    }
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return error;
    }
    p->entries[p->count++] = e;
    p->said.reserved += size;
    return cudaSuccess;
}

static cudaError_t grow(struct pool *p, size_t size)
{
    if (size > p->limit) return cudaErrorMemoryAllocation;
    make_room(p, size);
    if (p->said.reserved > p->limit - size) return cudaErrorMemoryAllocation;
    cudaError_t error = new_entry(p, size);
    if (error != cudaErrorMemoryAllocation) return error;
    const size_t limit = p->limit;
    p->limit = 0; /* all that is free */
    make_room(p, size);
    p->limit = limit;
    return new_entry(p, size);
}

cudaError_t pool_create(pool **p, size_t reserve_limit)
{
    *p = (pool *)malloc(sizeof **p);
    if (*p == NULL) return cudaErrorMemoryAllocation;
    memset(*p, 0, sizeof **p);
    (*p)->limit = reserve_limit;
    return cudaSuccess;
}

cudaError_t pool_alloc(pool *p, void **ptr, size_t bytes, cudaStream_t stream)
{
    *ptr = NULL;
    if (bytes == 0) return cudaSuccess;
    if (bytes > SIZE_MAX - 255) return cudaErrorMemoryAllocation;
    const size_t size = (bytes + 255) / 256 * 256;
    struct entry *e = best_fit(p, size);
    const bool hit = e != NULL;
    if (!hit) {
        cudaError_t error = grow(p, size);
        if (error != cudaSuccess) return error;
        e = &p->entries[p->count - 1];
    }
    cudaError_t error = cudaStreamWaitEvent(stream, e->through, 0);
    if (error != cudaSuccess) return error;
    e->wanted = bytes;
    p->said.allocations++;
    p->said.hits += hit;
    p->said.in_use += bytes;
    if (p->said.peak < p->said.in_use) p->said.peak = p->said.in_use;
    *ptr = e->at;
    return cudaSuccess;
}

cudaError_t pool_free(pool *p, void *ptr, cudaStream_t stream)
{
    if (ptr == NULL) return cudaSuccess;
    struct entry *e = entry_at(p, ptr);
    if (e == NULL || e->wanted == 0) return cudaErrorInvalidValue;
    cudaError_t error = cudaEventRecord(e->through, stream);
    if (error != cudaSuccess) return error;
    p->said.in_use -= e->wanted;
    e->wanted = 0;
    return cudaSuccess;
}

cudaError_t pool_reset(pool *p)
{
    cudaError_t error = cudaDeviceSynchronize();
    for (size_t i = 0; i < p->count && error == cudaSuccess; i++) p->entries[i].wanted = 0;
    if (error == cudaSuccess) p->said.in_use = 0;
    return error;
}

cudaError_t pool_stats(const pool *p, pool_statistics *statistics)
{
    memcpy(statistics, &p->said, sizeof p->said);
    return cudaSuccess;
}

cudaError_t pool_destroy(pool *p)
{
    if (p == NULL) return cudaSuccess;
    cudaError_t error = pool_reset(p);
    p->limit = 0;
    make_room(p, 1);
    free(p->entries);
    free(p);
    return error;
}
