/*
 * heap.h: which ranges of device memory are allocated; offsets from DEVICE_BASE. See heap.c.
 */
#ifndef SOFTGPU_DEVICE_HEAP_H
#define SOFTGPU_DEVICE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

enum { GRAIN = 256 }; /* allocations begin at multiples of it */

typedef struct extent extent;
typedef struct heap {
    extent *root;
    uint64_t used, limit; /**< bytes allocated; bytes that may be */
    uint64_t first;       /**< nothing is allocated below */
    uint64_t cursor;      /**< the next allocation is sought from here on */
    uint64_t middle;      /**< what is lent lies from here on */
    uint64_t seed;
} heap;

void heap_init(heap *, uint64_t limit, uint64_t first, uint64_t range);
void heap_destroy(heap *);
bool heap_allocate(heap *, uint64_t bytes, uint64_t *offset);
/** As low in the upper half as there is room, whatever was freed when. */
bool heap_lend(heap *, uint64_t bytes, uint64_t *offset);
bool heap_release(heap *, uint64_t offset, uint64_t *bytes);
/** An allocation at a given place outside the heap's range, and its end. */
void heap_place(heap *, uint64_t offset, uint64_t bytes);
bool heap_displace(heap *, uint64_t offset, uint64_t *bytes);
bool heap_find(const heap *, uint64_t offset, uint64_t *base, uint64_t *bytes);
/** The allocations next below and above an offset that none holds; 0 bytes of `base`: none. */
bool heap_below(const heap *, uint64_t offset, uint64_t *base, uint64_t *bytes);
bool heap_above(const heap *, uint64_t offset, uint64_t *base, uint64_t *bytes);

#endif
