/*
 * global_order.c: what comes before what, of accesses to global memory.
 *
 * Interface
 *   is_over, order_of, races_with_write, races_with_read, is_stale_copy, add_reader     for global_shadow.c
 *
 * In one block: the rules of shadow.c, by ticks. Of two blocks: what a block did before a fence is
 * released by its next strong (atomic or volatile) store behind that fence, the flag; what it does
 * after the flag is not, whatever fence follows. It comes before what another block does after a
 * strong access that is later than the release. It does not check which flag, and whether the other
 * block saw it: better to miss a race than to accuse a program that has none.
 * Of two works: what order.c says; and of two launches that it calls apart, what a block does after
 * a strong access comes after the other launch if that had fences: they may share a ticket.
 */
#include "device/base/cluster.h"
#include "global_shadow.h"
#include "order.h"

static bool both_strong(const op *o, const event *e)
{
    return e->strength != STRENGTH_PLAIN && o->strength != STRENGTH_PLAIN;
}

/* By barriers of the cluster, if the other block is of it. */
static bool is_before_in_cluster(const warp *w, const event *e)
{
    const cluster *c = w->block->cluster;
    for (uint32_t r = 0; c && r < c->count; r++) {
        const block *by = c->block[r];
        if (by->tracker && by->tracker->number == e->block)
            return cluster_orders(w, (uint32_t)__builtin_ctz(w->mask), by, e->warp, e->tick);
    }
    return false;
}

static order order_of_blocks(const warp *w, const op *o, const event *e)
{
    const block *b = w->block;
    const tracker *t = b->tracker;
    bool scoped = o->in_block || e->in_block; /* for the other block that is no atomic access */
    if ((both_strong(o, e) && !scoped) || e->epoch == 0) return ORDER_BEFORE;
    if (e->strength != STRENGTH_PLAIN && !e->in_block && t->strong) return ORDER_BEFORE;
    if (is_before_in_cluster(w, e)) return ORDER_BEFORE;
    uint32_t released =
        __atomic_load_n(&b->device->global_shadow->released[e->epoch], __ATOMIC_ACQUIRE);
    return released && released <= t->acquired ? ORDER_BEFORE : ORDER_NONE;
}

/* Volatile accesses do not order the lanes of a warp. */
static order order_in_warp(const warp *w, const op *o, const event *e, int32_t tick)
{
    if (tick < (int32_t)w->synced) return ORDER_BEFORE;
    bool atomic = o->strength == STRENGTH_ATOMIC || e->strength == STRENGTH_ATOMIC;
    return atomic && both_strong(o, e) ? ORDER_BEFORE : ORDER_SAME_LANE;
}

/* Most cells that a block meets are of the same work. */
bool is_over(const block *b, uint32_t event)
{
    tracker *t = b->tracker;
    if (event - t->over < t->overs) return true;
    const past *p = order_find(b->device, event);
    if (p && p->apart) return false;
    t->over = p ? p->first_event : 0;
    t->overs = p ? p->end_event - p->first_event : 0;
    return true;
}

static order order_of_works(const block *b, const op *o, uint32_t cell)
{
    if (is_over(b, cell >> EVENT_SHIFT)) return ORDER_BEFORE;
    if (both_strong(o, cell_event(b->device->global_shadow, cell))) return ORDER_BEFORE;
    bool fenced = order_find(b->device, cell >> EVENT_SHIFT)->fenced;
    return fenced && b->tracker->strong ? ORDER_BEFORE : ORDER_NONE;
}

order order_of(const warp *w, const op *o, uint32_t cell)
{
    const block *b = w->block;
    if (is_foreign(b->device->global_shadow, cell)) return order_of_works(b, o, cell);
    const event *e = cell_event(b->device->global_shadow, cell);
    if (e->block != b->tracker->number) return order_of_blocks(w, o, e);
    int32_t tick = (int32_t)(e->tick - b->rewound);
    if (tick < (int32_t)b->epoch_tick || tick < (int32_t)b->warps[e->warp].fenced)
        return ORDER_BEFORE;
    if (e->warp == w->index) return order_in_warp(w, o, e, tick);
    return both_strong(o, e) ? ORDER_BEFORE : ORDER_NONE;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static bool overlap(uint32_t a, uint32_t b)
{
    return cell_bytes(a) & cell_bytes(b);
}

static bool same_part(uint32_t a, uint32_t b)
{
    return ((a ^ b) >> PART_SHIFT & 7) == 0;
}

static bool stale(const touch *t, uint32_t cell)
{
    return cell >> EVENT_SHIFT < load_relaxed(&t->warp->block->device->global_shadow->floor);
}

static bool apart(const touch *t, uint32_t cell, order o)
{
    return o == ORDER_NONE || (o == ORDER_SAME_LANE && cell_lane(cell) != t->lane);
}

bool races_with_write(const touch *t, uint32_t cell)
{
    if (stale(t, cell) || !overlap(cell, t->me)) return false;
    return apart(t, cell, order_of(t->warp, t->op, cell));
}

/* Whatever came in between: that cache may hold the line from before. */
bool is_stale_copy(const touch *t, uint32_t written)
{
    const global_shadow *g = t->warp->block->device->global_shadow;
    return t->op->read_only && !is_foreign(g, written) && overlap(written, t->me);
}

/* The readers that the cell only counts: where order is not known, fences are taken for it. */
static bool others_apart(const touch *t, const event *e, uint32_t cell, order o)
{
    const block *b = t->warp->block;
    bool here = e->block == b->tracker->number;
    int32_t tick = (int32_t)(e->tick - b->rewound);
    switch (cell & SPREAD) {
    case SPREAD_WARP: return o != ORDER_BEFORE;
    case SPREAD_BLOCK: return here && tick >= (int32_t)b->epoch_tick && b->fenced < b->epoch_tick;
    case SPREAD_GRID: return !b->tracker->strong && !(b->cluster && b->cluster->phase);
    default: return false;
    }
}

bool races_with_read(const touch *t, uint32_t cell)
{
    if (stale(t, cell) || !overlap(cell, t->me)) return false;
    const global_shadow *g = t->warp->block->device->global_shadow;
    const event *e = cell_event(g, cell);
    order o = order_of(t->warp, t->op, cell);
    if (is_foreign(g, cell)) return o == ORDER_NONE;
    return apart(t, cell, o) || (!both_strong(t->op, e) && others_apart(t, e, cell, o));
}

static uint32_t spread_to(uint32_t cell, spread to)
{
    return (cell & SPREAD) < to ? (cell & ~SPREAD) | to : cell;
}

/* The first of several readers stays: should one of the others write, this is who read before. Of
 * two blocks the later one does, whichever came first: so a race is the same in every run. */
uint32_t add_reader(const touch *t, uint32_t cell)
{
    if (stale(t, cell) || !same_part(cell, t->me)) return t->me;
    const warp *w = t->warp;
    const global_shadow *g = w->block->device->global_shadow;
    const event *e = cell_event(g, cell);
    if (is_foreign(g, cell)) return t->me;
    if ((cell & SPREAD) == SPREAD_GRID) return cell;
    if (order_of(w, t->op, cell) == ORDER_BEFORE) return t->me;
    if (e->block < w->block->tracker->number) return spread_to(t->me, SPREAD_GRID);
    if (e->block > w->block->tracker->number) return spread_to(cell, SPREAD_GRID);
    if (e->warp != w->index) return spread_to(cell, SPREAD_BLOCK);
    return cell_lane(cell) == t->lane ? cell : spread_to(cell, SPREAD_WARP);
}
