/*
 * departure.c: bulk copies on their way to global memory.
 *
 * Interface
 *   departure_begin, departures_end
 *   departures_end_all     for run/block.c: the block has ended
 *
 * They arrive as late as the program allows: a thread that reads before a wait for the group (not
 * only with .read) sees the old bytes. In a launch that is `early` it sees the new ones, and all
 * that is told of them is as before.
 */
#include <stdlib.h>

#include "bulk.h"
#include "device/base/arena.h"

static void write(const departure *x, bulk_moves moves)
{
    tensor *t = x->warp->block->tensor;
    t->reduce = x->reduce;
    t->moves = (uint8_t)moves;
    if (x->tile)
        tile_write(x->warp, x->op, x->lane, &x->map, x->coordinate, x->data);
    else
        bulk_write(x->warp, x->op, x->lane, x->to, x->data, x->bytes);
    t->moves = MOVES_ALL;
}

void departure_begin(block *b, const departure *x)
{
    tensor *t = tensor_of(b);
    if (b->launch->early) write(x, MOVES_BYTES);
    if (t->departure_count == t->departure_capacity) {
        t->departure_capacity = t->departure_capacity ? 2 * t->departure_capacity : 8;
        t->departures = retake(t->departures, t->departure_capacity * sizeof *t->departures);
    }
    t->departures[t->departure_count++] = *x;
}

static void arrive(const departure *x)
{
    write(x, x->warp->block->launch->early ? MOVES_NONE : MOVES_ALL);
    free(x->data);
}

void departures_end(warp *w, uint32_t lanes, uint32_t but)
{
    tensor *t = w->block->tensor;
    uint32_t left = 0;
    for (uint32_t i = 0; i < t->departure_count; i++) {
        const departure x = t->departures[i];
        bool own = x.warp == w && lanes >> x.lane & 1;
        if (own && (uint64_t)x.group + but < t->bulk_groups[w->index][x.lane])
            arrive(&x);
        else
            t->departures[left++] = x;
    }
    t->departure_count = left;
}

void departures_end_all(block *b)
{
    tensor *t = b->tensor;
    for (uint32_t i = 0; t && i < t->departure_count; i++) arrive(&t->departures[i]);
    if (t) t->departure_count = 0;
}

void departures_forget(tensor *t)
{
    for (uint32_t i = 0; i < t->departure_count; i++) free(t->departures[i].data);
    t->departure_count = 0;
}
