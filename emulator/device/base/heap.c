/*
 * heap.c: which ranges of device memory are allocated.
 *
 * Interface
 *   heap_init, heap_destroy, heap_allocate, heap_lend, heap_release, heap_find, heap_below,
 *   heap_above, heap_place, heap_displace
 *
 * A treap of extents, free and used, ordered by address; each node knows the largest free extent
 * below it, so that all operations take O(log n). Between allocations lies at least RED_ZONE
 * unowned space. Memory is sought from the last allocation on, up to QUARANTINE beyond what is in
 * use, so that what was freed stays unused for long, and a late access to it is seen. What is lent
 * lies in the upper half of the range, as low as it can: after all of it was given back, the same
 * sizes get the same places.
 */
#include <stdlib.h>

#include "arena.h"
#include "state.h"

enum { RED_ZONE = 1024, QUARANTINE = 1 << 28 };

struct extent {
    uint64_t offset, span; /* span: bytes up to the next extent */
    uint64_t bytes;        /* asked for; free extents: unused */
    bool used;
    uint64_t largest; /* span of the largest free extent of the subtree */
    uint64_t priority;
    extent *left, *right;
};

static uint64_t random_number(heap *h)
{
    h->seed ^= h->seed << 13;
    h->seed ^= h->seed >> 7;
    return h->seed ^= h->seed << 17;
}

static void refresh(extent *e)
{
    e->largest = e->used ? 0 : e->span;
    if (e->left && e->left->largest > e->largest) e->largest = e->left->largest;
    if (e->right && e->right->largest > e->largest) e->largest = e->right->largest;
}

/* Everything below `offset` to the left, the rest to the right. */
static void split(extent *e, uint64_t offset, extent **left, extent **right)
{
    if (!e) {
        *left = *right = NULL;
    } else if (e->offset < offset) {
        *left = e;
        split(e->right, offset, &e->right, right);
        refresh(e);
    } else {
        *right = e;
        split(e->left, offset, left, &e->left);
        refresh(e);
    }
}

static extent *join(extent *left, extent *right)
{
    if (!left || !right) return left ? left : right;
    extent *top = left->priority > right->priority ? left : right;
    if (top == left)
        left->right = join(left->right, right);
    else
        right->left = join(left, right->left);
    refresh(top);
    return top;
}

static void insert(heap *h, uint64_t offset, uint64_t span, bool used, uint64_t bytes)
{
    extent *e = take(1, sizeof *e), *left, *right;
    *e = (extent){offset, span, bytes, used, 0, random_number(h), NULL, NULL};
    refresh(e);
    split(h->root, offset, &left, &right);
    h->root = join(join(left, e), right);
}

static extent cut_out(heap *h, uint64_t offset)
{
    extent *left, *middle, *right;
    split(h->root, offset, &left, &right);
    split(right, offset + 1, &middle, &right);
    h->root = join(left, right);
    extent copy = middle ? *middle : (extent){0};
    free(middle);
    return copy;
}

void heap_init(heap *h, uint64_t limit, uint64_t first, uint64_t range)
{
    *h = (heap){.limit = limit,
                .first = first,
                .cursor = first,
                .middle = first + range / 2 / GRAIN * GRAIN,
                .seed = UINT64_C(0x9e3779b97f4a7c15)};
    insert(h, first + RED_ZONE, range - 2 * RED_ZONE, false, 0);
}

static void free_tree(extent *e)
{
    if (!e) return;
    free_tree(e->left);
    free_tree(e->right);
    free(e);
}

void heap_destroy(heap *h)
{
    free_tree(h->root);
    h->root = NULL;
}

/* The lowest free extent at or above `from` that has room. */
static const extent *find_room(const extent *e, uint64_t from, uint64_t span)
{
    if (!e || e->largest < span) return NULL;
    if (e->offset >= from) {
        const extent *lower = find_room(e->left, from, span);
        if (lower) return lower;
        if (!e->used && e->span >= span) return e;
    }
    return find_room(e->right, from, span);
}

/* The last extent at or below `offset`. */
static const extent *floor_of(const extent *e, uint64_t offset)
{
    const extent *best = NULL;
    while (e) {
        if (e->offset <= offset) best = e;
        e = e->offset <= offset ? e->right : e->left;
    }
    return best;
}

/* What is free before that place shall not be part of the free extent that begins there. */
static void split_free(heap *h, uint64_t at)
{
    const extent *e = floor_of(h->root, at);
    if (!e || e->used || e->offset == at || e->offset + e->span <= at) return;
    extent whole = cut_out(h, e->offset);
    insert(h, whole.offset, at - whole.offset, false, 0);
    insert(h, at, whole.offset + whole.span - at, false, 0);
}

/* In the first room from there on. @return its end; 0: there is none */
static uint64_t claim(heap *h, uint64_t place, uint64_t bytes, uint64_t *offset)
{
    if (bytes > h->limit - h->used) return 0;
    uint64_t span = ((bytes + GRAIN - 1) & ~(uint64_t)(GRAIN - 1)) + RED_ZONE;
    split_free(h, place);
    const extent *room = find_room(h->root, place, span);
    if (!room) room = find_room(h->root, 0, span);
    if (!room) return 0;
    extent from = cut_out(h, room->offset);
    insert(h, from.offset, span, true, bytes);
    if (from.span > span) insert(h, from.offset + span, from.span - span, false, 0);
    h->used += bytes;
    *offset = from.offset;
    return from.offset + span;
}

bool heap_allocate(heap *h, uint64_t bytes, uint64_t *offset)
{
    uint64_t end = claim(h, h->cursor, bytes, offset);
    if (!end) return false;
    /* what was touched costs memory */
    h->cursor = end - h->first > h->used + QUARANTINE ? h->first : end;
    return true;
}

bool heap_lend(heap *h, uint64_t bytes, uint64_t *offset)
{
    return claim(h, h->middle, bytes, offset) != 0;
}

static const extent *ceiling_of(const extent *e, uint64_t offset)
{
    const extent *best = NULL;
    while (e) {
        if (e->offset > offset) best = e;
        e = e->offset > offset ? e->left : e->right;
    }
    return best;
}

static bool tell(const extent *e, uint64_t *base, uint64_t *bytes)
{
    if (!e) return false;
    *base = e->offset;
    *bytes = e->bytes;
    return true;
}

bool heap_find(const heap *h, uint64_t offset, uint64_t *base, uint64_t *bytes)
{
    const extent *e = floor_of(h->root, offset);
    if (!e || !e->used || offset - e->offset >= (e->bytes ? e->bytes : 1)) return false;
    return tell(e, base, bytes);
}

bool heap_below(const heap *h, uint64_t offset, uint64_t *base, uint64_t *bytes)
{
    const extent *e = floor_of(h->root, offset);
    if (e && !e->used) e = e->offset ? floor_of(h->root, e->offset - 1) : NULL;
    return e && e->used && tell(e, base, bytes);
}

bool heap_above(const heap *h, uint64_t offset, uint64_t *base, uint64_t *bytes)
{
    const extent *e = ceiling_of(h->root, offset);
    if (e && !e->used) e = ceiling_of(h->root, e->offset);
    return e && e->used && tell(e, base, bytes);
}

bool heap_release(heap *h, uint64_t offset, uint64_t *bytes)
{
    const extent *found = floor_of(h->root, offset);
    if (!found || found->offset != offset || !found->used) return false;
    extent gone = cut_out(h, offset);
    *bytes = gone.bytes;
    h->used -= gone.bytes;
    uint64_t span = gone.span;
    const extent *after = ceiling_of(h->root, offset), *before = floor_of(h->root, offset);
    if (after && !after->used && after->offset == offset + span)
        span += cut_out(h, after->offset).span;
    if (before && !before->used && before->offset + before->span == offset) {
        extent lower = cut_out(h, before->offset);
        offset = lower.offset;
        span += lower.span;
    }
    insert(h, offset, span, false, 0);
    return true;
}

/* It counts neither as used nor as free. */
void heap_place(heap *h, uint64_t offset, uint64_t bytes)
{
    insert(h, offset, bytes, true, bytes);
}

bool heap_displace(heap *h, uint64_t offset, uint64_t *bytes)
{
    const extent *found = floor_of(h->root, offset);
    if (!found || found->offset != offset || !found->used) return false;
    *bytes = cut_out(h, offset).bytes;
    return true;
}
