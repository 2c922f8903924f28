/*
 * shadow.h: the cells of shared memory's shadow, and the questions asked so often that their
 * answers must be inline. shadow.c explains the cells.
 *
 * Interface
 *   shadow_may_load, shadow_may_store     whole runs, no reports
 */
#ifndef SOFTGPU_DEVICE_SHADOW_H
#define SOFTGPU_DEVICE_SHADOW_H

#include "internal.h"

#define CROWD   UINT32_C(0x80000000)
#define MANY    UINT32_C(0x800)
#define ATOMIC  UINT32_C(0x400)
#define THREAD  UINT32_C(0x3ff)
#define WARP    UINT32_C(0x3e0)
#define UNOWNED UINT32_C(0xffffffff) /* write cells only */
#define SPLIT   UINT32_C(0xfffffffe)

enum { TICK_SHIFT = 12 };

/** Every word was written in this block before its last barrier, and read by several warps since:
 *  nothing to check, nothing to note. `count` is a constant where it matters. */
static inline bool shadow_idle(const block *b, uint32_t first, uint32_t count)
{
    const uint32_t *written = b->words.written + first, *read = b->words.read + first;
    uint32_t oldest = b->oldest, most = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t age = written[i] - oldest;
        most = age > most ? age : most;
        least = read[i] < least ? read[i] : least;
    }
    return most < b->span && least >= b->crowded;
}

/** Nothing touched these words since the last barrier. */
static inline bool shadow_untouched(const block *b, uint32_t first, uint32_t count)
{
    const uint32_t *written = b->words.written + first, *read = b->words.read + first;
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t plain = read[i] & b->read_mask;
        last = written[i] > last ? written[i] : last;
        last = plain > last ? plain : last;
    }
    return last < b->recent;
}

static inline void shadow_note_write(warp *w, const op *o, uint32_t first, uint32_t count,
                                     uint32_t lane)
{
    cells *c = &w->block->words;
    uint32_t me = w->block->tick << TICK_SHIFT | w->index * LANES | lane;
    for (uint32_t i = 0; i < count; i++) c->written[first + i] = me + i;
    for (uint32_t i = 0; i < count; i++) c->written_line[first + i] = o->line;
}

static inline bool shadow_may_load(warp *w, const op *o, const run *r)
{
    uint32_t first = (uint32_t) r->address / 4;
    bool idle = false;
    if (r->bytes != 4) return shadow_load(w, o, r);
    if (r->step == 0) idle = shadow_idle(w->block, first, 1);
    else if (r->lanes == LANES) idle = shadow_idle(w->block, first, LANES);
    else if (r->lanes == LANES / 2) idle = shadow_idle(w->block, first, LANES / 2);
    return idle || shadow_load(w, o, r);
}

static inline bool shadow_may_store(warp *w, const op *o, const run *r)
{
    uint32_t first = (uint32_t) r->address / 4;
    if (r->bytes != 4 || r->step != 4 || r->lanes != LANES) return shadow_store(w, o, r);
    if (!shadow_untouched(w->block, first, LANES)) return shadow_store(w, o, r);
    shadow_note_write(w, o, first, LANES, r->lane);
    return true;
}

#endif
